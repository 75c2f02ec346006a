"""Hierarchical grouping of image regions (Uijlings et al., Selective Search, IJCV 2013, section 3.1 and Algorithm 1).

The two most similar neighbouring regions are merged, repeatedly, until the whole image is one region.
Similarity is a sum of measures (section 3.2.2, Eq 1 to 6), each between 0 and 1.
"""

import heapq
from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Measure = Literal["colour", "texture", "size", "fill"]
Integers = NDArray[np.int64]
_Reals = NDArray[np.float32]


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
        size, corners, _histograms(flat, count, colour), _histograms(flat, count, texture), _touching(labels), len(flat)
    )


def _histograms(flat: Integers, count: int, bins: Integers) -> _Reals:
    width = int(bins.max()) + 1
    counted = np.bincount((flat * width + bins.reshape(len(bins), -1)).ravel(), minlength=count * width)
    counted = counted.reshape(count, width)
    histograms: _Reals = (counted / counted.sum(axis=1, keepdims=True)).astype(np.float32)
    return histograms


def _touching(labels: NDArray[Any]) -> Integers:
    """The pairs of labels of neighbouring pixels, the smaller label first: (pairs, 2), sorted."""
    count = int(labels.max()) + 1
    found = []
    for one, other in ((labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])):
        apart = one != other
        one, other = one[apart].astype(np.int64), other[apart].astype(np.int64)
        found.append(np.minimum(one, other) * count + np.maximum(one, other))
    pairs: Integers = np.stack(np.divmod(np.unique(np.concatenate(found)), count), axis=1)
    return pairs


def group(regions: GroupedRegions, measures: Set[Measure]) -> Integers:
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
