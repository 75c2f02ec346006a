"""Selective search (Uijlings et al., IJCV 2013): boxes that may hold an object.

OpenCV finds initial regions (Felzenszwalb and Huttenlocher's graph segmentation). They are grouped in several ways
(colour spaces, coarseness, measures of similarity: section 3.2), and the boxes around all regions of all hierarchies
are ranked as in section 4.3. OpenCV also has the whole method, but ranks in reverse (small regions first) and returns
no levels.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.boxes import Boxes
from densevse.vision.boxes import unique
from densevse.vision.crops import Pixels
from densevse.vision.grouping import GroupedRegions, Measure, group, initial_regions

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
    found = _ranked(_resized(image, scale), MODES[mode], seed)
    begin = np.floor(found[:, :2] * scale)
    end = np.minimum(np.ceil(found[:, 2:] * scale), image.shape[1::-1])
    boxes: Boxes = np.concatenate([begin, end - begin], axis=1).astype(np.float32)
    boxes = boxes[boxes[:, 2:].min(axis=1) >= minimum_side]
    return boxes[unique(boxes)[:most]]


def _resized(image: Pixels, scale: float) -> Pixels:
    if scale == 1.0:
        return image
    height, width = (max(1, round(side / scale)) for side in image.shape[:2])
    how = cv2.INTER_AREA if scale > 1 else cv2.INTER_LINEAR
    return cv2.resize(image, (width, height), interpolation=how).astype(np.uint8, copy=False)


def _ranked(image: Pixels, strategies: Strategies, seed: int) -> NDArray[np.int64]:
    """The corners of all regions of all hierarchies in the paper's order: (n, 4) left, top, right, bottom.

    Section 4.3: a region at position i of its hierarchy (the whole image is at 1) has the value RND times i, with RND
    uniform between 0 and 1. Lower values come first, so large regions tend to come early.
    """
    hierarchies = [
        group(regions, measures)
        for space in strategies.spaces
        for regions in _segmented(_in_space(image, space), strategies.coarseness)
        for measures in strategies.similarities
    ]
    position = np.concatenate([np.arange(1, len(corners) + 1) for corners in hierarchies])
    value = np.random.default_rng(seed).random(len(position)) * position
    ranked: NDArray[np.int64] = np.concatenate(hierarchies)[np.argsort(value, kind="stable")]
    return ranked


def _in_space(image: Pixels, space: str) -> Pixels:
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


def _segmented(image: Pixels, coarseness: tuple[int, ...]) -> list[GroupedRegions]:
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
