"""Selective search (Uijlings et al., IJCV 2013): boxes that may hold an object.

OpenCV finds initial regions (Felzenszwalb and Huttenlocher's graph segmentation). They are grouped in several ways
(colour spaces, coarseness, measures of similarity: section 3.2), and the boxes around all regions of all hierarchies
are ranked as in section 4.3. OpenCV also has the whole method, but ranks in reverse (small regions first) and returns
no levels.

Grouping (section 3.1, Algorithm 1) merges the two most similar neighbouring regions, repeatedly, until the whole image
is one region. Similarity is a sum of measures (section 3.2.2, Eq 1 to 6), each between 0 and 1.
"""

import heapq
from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.boxes import Boxes
from densevse.vision.boxes import unique_boxes
from densevse.vision.crops import Pixels

Measure = Literal["colour", "texture", "size", "fill"]
Integers = NDArray[np.int64]
_Reals = NDArray[np.float32]

CTSF: Set[Measure] = {"colour", "texture", "size", "fill"}
TSF: Set[Measure] = {"texture", "size", "fill"}
FILL: Set[Measure] = {"fill"}
_SIZE: Set[Measure] = {"size"}

COLOUR_BINS, TEXTURE_BINS = 25, 10
SIGMA = 0.8
SMALLEST, MOST_REGIONS, MOST_PIXELS = 100, 3000, 1_000_000
"""Bounds on the cost of an image: the least pixels of an initial region, the most initial regions, and the most pixels
of the image that is searched."""


@dataclass(frozen=True)
class GroupedRegions:
    """The n initial regions of an image of `pixels` pixels, and the pairs of them that touch.

    Histograms of the channels (and directions) are concatenated and sum to 1 in total.
    """

    size: Integers  # (n,) pixels
    corners: Integers  # (n, 4) left, top, right, bottom of the box around each; right and bottom are exclusive
    colour: _Reals  # (n, colour bins)
    texture: _Reals  # (n, texture bins)
    neighbours: Integers  # (pairs, 2)
    pixels: int


@dataclass(frozen=True)
class Strategies:
    """The ways in which an image is grouped: each colour space with each coarseness and each similarity."""

    spaces: tuple[str, ...]
    coarseness: tuple[int, ...]
    similarities: tuple[Set[Measure], ...]


MODES = {  # as in OpenCV's modes of these names
    "single": Strategies(("hsv",), (200,), (CTSF,)),
    "fast": Strategies(("hsv", "lab"), (150, 300, 450), (CTSF, TSF)),
    "quality": Strategies(("hsv", "lab", "rgi", "hue", "grey"), (150, 300, 450, 600, 750), (CTSF, TSF, FILL, _SIZE)),
}


def selective_search(image: Pixels, mode: str, height: int | None, minimum_side: int, most: int, seed: int) -> Boxes:
    """Proposes at most `most` distinct boxes in an RGB image (H, W, 3), best first: (n, 4) x, y, width, height.

    With `height` the image is first resized to that many pixels, and an image that is too large is reduced; boxes are
    in pixels of the given image. Boxes with a side below `minimum_side` pixels are left out. The same image, options
    and seed give the same boxes in the same order.
    """
    scale = 1.0 if height is None else image.shape[0] / height
    scale *= max(1.0, np.sqrt(image.shape[0] * image.shape[1] / scale**2 / MOST_PIXELS))
    found = _ranked_corners(_rescale_image(image, scale), MODES[mode], seed)
    begin = np.floor(found[:, :2] * scale)
    end = np.minimum(np.ceil(found[:, 2:] * scale), image.shape[1::-1])
    boxes: Boxes = np.concatenate([begin, end - begin], axis=1).astype(np.float32)
    boxes = boxes[boxes[:, 2:].min(axis=1) >= minimum_side]
    return boxes[unique_boxes(boxes)[:most]]


def _rescale_image(image: Pixels, scale: float) -> Pixels:
    if scale == 1.0:
        return image
    height, width = (max(1, round(side / scale)) for side in image.shape[:2])
    how = cv2.INTER_AREA if scale > 1 else cv2.INTER_LINEAR
    return cv2.resize(image, (width, height), interpolation=how).astype(np.uint8, copy=False)


def _ranked_corners(image: Pixels, strategies: Strategies, seed: int) -> NDArray[np.int64]:
    """The corners of all regions of all hierarchies in the paper's order: (n, 4) left, top, right, bottom.

    Section 4.3: a region at position i of its hierarchy (the whole image is at 1) has the value RND times i, with RND
    uniform between 0 and 1. Lower values come first, so large regions tend to come early.
    """
    hierarchies = [
        group_regions(regions, measures)
        for space in strategies.spaces
        for regions in _segment_image(_convert_colours(image, space), strategies.coarseness)
        for measures in strategies.similarities
    ]
    position = np.concatenate([np.arange(1, len(corners) + 1) for corners in hierarchies])
    value = np.random.default_rng(seed).random(len(position)) * position
    ranked: NDArray[np.int64] = np.concatenate(hierarchies)[np.argsort(value, kind="stable")]
    return ranked


def _convert_colours(image: Pixels, space: str) -> Pixels:
    """An RGB image in another colour space: (H, W, channels)."""
    if space == "hsv":
        return cv2.cvtColor(image, cv2.COLOR_RGB2HSV_FULL).astype(np.uint8, copy=False)
    if space == "hue":
        return cv2.cvtColor(image, cv2.COLOR_RGB2HSV_FULL)[:, :, :1].astype(np.uint8, copy=False)
    if space == "lab":
        return cv2.cvtColor(image, cv2.COLOR_RGB2Lab).astype(np.uint8, copy=False)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)[:, :, None]
    if space == "grey":
        return grey.astype(np.uint8, copy=False)
    shares = image[:, :, :2] / np.maximum(1, image.sum(axis=2, keepdims=True, dtype=np.float64))
    return np.concatenate([np.round(255 * shares), grey], axis=2).astype(np.uint8)  # "rgi": r, g and intensity


def _segment_image(image: Pixels, coarseness: tuple[int, ...]) -> list[GroupedRegions]:
    """The initial regions of an image (H, W, channels) at each coarseness."""
    colour, texture = _colour(image), _texture(image)
    smallest = max(SMALLEST, image.shape[0] * image.shape[1] // MOST_REGIONS)
    found = []
    for coarse in coarseness:
        segmentation: Any = cv2.ximgproc.segmentation.createGraphSegmentation(SIGMA, coarse, smallest)
        found.append(initial_regions(segmentation.processImage(image), colour, texture))
    return found


def _colour(image: Pixels) -> NDArray[np.int64]:
    """Each pixel's bin in each channel, numbered consecutively over the channels: (channels, H, W)."""
    channels = np.moveaxis(image, 2, 0).astype(np.int64)
    return channels * COLOUR_BINS // 256 + COLOUR_BINS * np.arange(len(channels))[:, None, None]


def _texture(image: Pixels) -> NDArray[np.int64]:
    """Each pixel's bin of Gaussian derivatives in eight directions: (channels times 8, H, W).

    A derivative is clipped at 0, as negative values belong to the opposite direction; bins divide its range in the
    channel.
    """
    channels = np.moveaxis(image, 2, 0)
    bins = np.empty((len(channels), 8, *image.shape[:2]), np.int64)
    eight = np.empty(bins.shape[1:], np.float32)
    for number, channel in enumerate(channels):
        smooth = cv2.GaussianBlur(channel.astype(np.float32), (0, 0), 1)
        right, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
        # In place, as on small pictures the copies take longer than the sums.
        eight[0], eight[2] = right, down
        np.divide(right + down, np.sqrt(2), out=eight[1])
        np.divide(down - right, np.sqrt(2), out=eight[3])
        np.negative(eight[:4], out=eight[4:])
        np.maximum(eight, 0, out=eight)
        eight *= TEXTURE_BINS / max(1e-6, float(eight.max()))
        bins[number] = np.minimum(eight, TEXTURE_BINS - 1, out=eight)
    every = bins.reshape(-1, *image.shape[:2])
    every += TEXTURE_BINS * np.arange(len(every))[:, None, None]
    return every


# --- grouping ----------------------------------------------------------------------------------------------------


def initial_regions(labels: NDArray[Any], colour: Integers, texture: Integers) -> GroupedRegions:
    """The regions of a segmentation `labels` (H, W), which counts from 0 without a gap.

    `colour` (channels, H, W) and `texture` (channels times directions, H, W) hold each pixel's bin; bins are numbered
    consecutively over the channels (and directions).
    """
    count, flat = int(labels.max()) + 1, labels.ravel().astype(np.int64)
    size = np.bincount(flat, minlength=count)
    y, x = (part.ravel() for part in np.indices(labels.shape))
    corners = np.empty((count, 4), np.int64)
    for column, (of_pixels, reduce) in enumerate(((x, np.minimum), (y, np.minimum), (x, np.maximum), (y, np.maximum))):
        corners[:, column] = of_pixels.max() if reduce is np.minimum else 0
        reduce.at(corners[:, column], flat, of_pixels)
    corners[:, 2:] += 1
    return GroupedRegions(
        size,
        corners,
        _histograms(flat, count, colour),
        _histograms(flat, count, texture),
        _touching_pairs(labels),
        len(flat),
    )


def _histograms(flat: Integers, count: int, bins: Integers) -> _Reals:
    width = int(bins.max()) + 1
    counted = np.bincount((flat * width + bins.reshape(len(bins), -1)).ravel(), minlength=count * width)
    counted = counted.reshape(count, width)
    histograms: _Reals = (counted / counted.sum(axis=1, keepdims=True)).astype(np.float32)
    return histograms


def _touching_pairs(labels: NDArray[Any]) -> Integers:
    """The pairs of labels of neighbouring pixels, the smaller label first: (pairs, 2), sorted."""
    count = int(labels.max()) + 1
    found = []
    for one, other in ((labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])):
        apart = one != other
        one, other = one[apart].astype(np.int64), other[apart].astype(np.int64)
        found.append(np.minimum(one, other) * count + np.maximum(one, other))
    pairs: Integers = np.stack(np.divmod(np.unique(np.concatenate(found)), count), axis=1)
    return pairs


def group_regions(regions: GroupedRegions, measures: Set[Measure]) -> Integers:
    """Groups to the end; returns the corners of all regions of the hierarchy, the whole image first: (2n - 1, 4).

    Regions are in reverse order of their merging; the initial regions come last.
    """
    grouping = _Grouping(regions, measures)
    while grouping.merge():
        pass
    return grouping.corners[: grouping.count][::-1]


class _Grouping:
    """Algorithm 1: the current regions, and a queue of the similarities of neighbours."""

    def __init__(self, regions: GroupedRegions, measures: Set[Measure]) -> None:
        self.measures, self.pixels, self.count = measures, regions.pixels, len(regions.size)
        most = 2 * self.count - 1
        self.size, self.corners, self.colour, self.texture = (
            np.concatenate([of_all, np.zeros((most - self.count, *of_all.shape[1:]), of_all.dtype)])
            for of_all in (regions.size, regions.corners, regions.colour, regions.texture)
        )
        self.neighbours: list[set[int]] = [set() for _ in range(most)]
        one, other = regions.neighbours.T
        for i, j in regions.neighbours.tolist():
            self.neighbours[i].add(j)
            self.neighbours[j].add(i)
        similar = self.similarity(one, other).tolist()
        # The similarities of a merged region stay in the queue and are skipped when their turn comes.
        self.queue = list(zip([-s for s in similar], one.tolist(), other.tolist(), strict=True))
        heapq.heapify(self.queue)
        self.alive = [True] * self.count + [False] * (most - self.count)

    def similarity(self, i: Integers | int, j: Integers) -> NDArray[Any]:
        """Eq 6: the sum of the chosen measures, for one region and another, or several others."""
        total: NDArray[Any] = np.zeros(len(j))
        if "colour" in self.measures:
            total = total + np.minimum(self.colour[i], self.colour[j]).sum(axis=1)  # Eq 1
        if "texture" in self.measures:
            total = total + np.minimum(self.texture[i], self.texture[j]).sum(axis=1)  # Eq 3
        together = self.size[i] + self.size[j]
        if "size" in self.measures:
            total = total + 1 - together / self.pixels  # Eq 4
        if "fill" in self.measures:
            begin = np.minimum(self.corners[i, ..., :2], self.corners[j, :2])
            end = np.maximum(self.corners[i, ..., 2:], self.corners[j, 2:])
            total = total + 1 - ((end - begin).prod(axis=1) - together) / self.pixels  # Eq 5
        return total

    def merge(self) -> bool:
        """Merges the two most similar neighbours into a new region; returns false if there are none."""
        while self.queue:
            _, i, j = heapq.heappop(self.queue)
            if self.alive[i] and self.alive[j]:
                self._join(i, j)
                return True
        return False

    def _join(self, i: int, j: int) -> None:
        new, size = self.count, self.size
        self.count += 1
        size[new] = size[i] + size[j]
        for histogram in (self.colour, self.texture):
            histogram[new] = (size[i] * histogram[i] + size[j] * histogram[j]) / size[new]  # Eq 2
        self.corners[new, :2] = np.minimum(self.corners[i, :2], self.corners[j, :2])
        self.corners[new, 2:] = np.maximum(self.corners[i, 2:], self.corners[j, 2:])
        self.alive[i] = self.alive[j] = False
        self.alive[new] = True
        around = sorted((self.neighbours[i] | self.neighbours[j]) - {i, j})
        self.neighbours[new] = set(around)
        for other in around:
            self.neighbours[other] -= {i, j}
            self.neighbours[other].add(new)
        if around:
            for other, similar in zip(around, self.similarity(new, np.array(around)).tolist(), strict=True):
                heapq.heappush(self.queue, (-similar, new, other))
