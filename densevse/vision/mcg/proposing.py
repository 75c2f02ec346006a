"""Runs all steps after the contours for one image: hierarchies, candidates, their order, and boxes.

The order (Arbelaez et al., CVPR 2014, section 5) puts good candidates first, and diverse ones. A candidate's estimated
quality is weighed against its overlap with those chosen before (maximum marginal relevance, as in CPMC: Carreira and
Sminchisescu, PAMI 2012).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from densevse.artifacts.boxes import Boxes
from densevse.vision.boxes import corners_to_boxes
from densevse.vision.mcg.candidates import GroupedCandidates, candidates, features
from densevse.vision.mcg.forest import RegressionForest
from densevse.vision.mcg.grouping import NEAR_COPY
from densevse.vision.mcg.hierarchy import Labels, Superpixels, hierarchies
from densevse.vision.processes import Timer

RELEVANCE = 0.7
"""The weight of a candidate's quality against its diversity (theta)."""


@dataclass(frozen=True)
class McgProposals:
    """An image's ranked candidates, best first, with `scores` (C,); `boxed` are those with a distinct box."""

    superpixels: Superpixels
    candidates: GroupedCandidates
    scores: NDArray[np.float32]
    boxed: NDArray[np.int64]

    def boxes(self, height: int, width: int) -> Boxes:
        """(n, 4) x, y, width, height of `boxed` in the pixels of an image of `height` x `width`."""
        worked_height, worked_width = self.superpixels.labels.shape
        scale = np.array([width / worked_width, height / worked_height] * 2)
        return corners_to_boxes(self.candidates.boxes[self.boxed] * scale)


def propose(
    contours: Sequence[NDArray[np.uint8]],
    counts: Sequence[Sequence[int]],
    forest: RegressionForest,
    most_superpixels: int,
    most: int,
    timer: Timer | None = None,
) -> McgProposals:
    """Ranks the candidates of an image with these contour maps (h, w), finest first; at most `most`.

    `counts[k][h]` candidates of k + 1 regions are formed from hierarchy h: One map has one hierarchy (SCG); several
    have the multiscale one and then one for each map, coarsest first (MCG). The same input gives the same output. A
    `timer` measures each step.
    """
    timer = timer or Timer()
    with timer.step("hierarchies"):
        found = hierarchies(contours, most_superpixels)
    with timer.step("candidates"):
        formed = candidates(found, counts)
    with timer.step("features"):
        described = features(formed, found)
    with timer.step("qualities"):
        qualities = forest.predict(described)
    with timer.step("order"):
        order, scores = diversify(formed, qualities, found.superpixels.areas, most)
        ranked = formed[order]
        boxed = distinct_boxes(ranked.boxes)
    return McgProposals(found.superpixels, ranked, scores, boxed)


def diversify(
    chosen: GroupedCandidates, qualities: NDArray[np.float32], superpixel_areas: Labels, most: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Chooses at most `most` of C candidates, each with the largest marginal relevance; also returns relevances.

    The relevance of a candidate is theta times its quality minus (1 - theta) times its largest overlap (Jaccard) with
    one chosen before. It falls with every choice, so the returned relevances descend. Of equally relevant candidates
    the first is chosen.
    """
    order = np.argsort(-qualities, kind="stable")
    ranked = chosen[order]
    picked, relevances = _pick(
        ranked.bits, ranked.areas, ranked.boxes, qualities[order].astype(np.float64), superpixel_areas, RELEVANCE, most
    )
    return order[picked], relevances.astype(np.float32)


def distinct_boxes(boxes: Labels) -> NDArray[np.int64]:
    """The boxes (n, 4), best first, that overlap no better kept one by more than NEAR_COPY."""
    return np.flatnonzero(_mark_distinct_boxes(boxes.astype(np.float64), NEAR_COPY))


@njit(cache=True)
def _pick(bits, areas, boxes, qualities, leaf_areas, relevance, most):
    """Chooses greedily from candidates of descending quality.

    A candidate's relevance only falls, so an earlier value is an upper bound. The bounds form a heap. The candidate
    with the largest bound is updated by its overlaps with those chosen since its last update, until the top stays the
    top. Most of the time goes into finding that two candidates cannot overlap enough to matter, so the values that this
    needs are stored contiguously.
    """
    number = len(bits)
    bounds = relevance * qualities
    overlaps, looked = np.zeros(number), np.zeros(number, np.int64)
    heap = np.arange(number)  # descending bounds are already a heap
    picked, values = np.empty(min(most, number), np.int64), np.empty(min(most, number))
    picked_areas, picked_boxes = np.empty(len(picked)), np.empty((len(picked), 4), boxes.dtype)
    filled, size = 0, number
    while filled < len(picked):
        best = heap[0]
        while looked[best] < filled:
            other = looked[best]
            looked[best] += 1
            shared = _shared_area_limit(areas[best], boxes[best], picked_areas[other], picked_boxes[other])
            if shared <= overlaps[best] * (areas[best] + picked_areas[other] - shared):
                continue
            found = _jaccard(bits, areas, leaf_areas, best, picked[other])
            if found <= overlaps[best]:
                continue
            overlaps[best] = found
            bounds[best] = relevance * qualities[best] - (1 - relevance) * found
            if size > 1 and _is_before(bounds, _best_child(heap, size, 0, bounds), best):
                break
        if looked[best] == filled and (size < 2 or not _is_before(bounds, _best_child(heap, size, 0, bounds), best)):
            picked[filled], values[filled] = best, bounds[best]
            picked_areas[filled], picked_boxes[filled] = areas[best], boxes[best]
            filled += 1
            size -= 1
            heap[0] = heap[size]
        _sink(heap, size, bounds)
    return picked, values


@njit(cache=True)
def _is_before(bounds, first, second):
    """True if the first candidate is chosen before the second: by bound, then by quality, which is their order."""
    return bounds[first] > bounds[second] or (bounds[first] == bounds[second] and first < second)


@njit(cache=True)
def _best_child(heap, size, place, bounds):
    left, right = 2 * place + 1, 2 * place + 2
    return heap[right] if right < size and _is_before(bounds, heap[right], heap[left]) else heap[left]


@njit(cache=True)
def _sink(heap, size, bounds):
    """Moves the top of the heap down to its place."""
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and _is_before(bounds, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(bounds, heap[child], heap[place]):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@njit(cache=True)
def _shared_area_limit(area, box, other_area, other_box):
    """An upper bound of the area that two sets share, from their areas and boxes."""
    width = min(box[2], other_box[2]) - max(box[0], other_box[0])
    height = min(box[3], other_box[3]) - max(box[1], other_box[1])
    return min(area, other_area, max(width, 0) * max(height, 0))


@njit(cache=True)
def _jaccard(bits, areas, leaf_areas, first, second):
    """The Jaccard overlap of two sets."""
    shared = 0
    for place in range(bits.shape[1]):
        word = bits[first, place] & bits[second, place]
        base = 64 * place
        while word:
            if word & np.uint64(1):
                shared += leaf_areas[base]
            word >>= np.uint64(1)
            base += 1
    return shared / (areas[first] + areas[second] - shared)


@njit(cache=True)
def _mark_distinct_boxes(boxes, threshold):
    stays = np.ones(len(boxes), np.bool_)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for row in range(len(boxes)):
        for better in range(row):
            if not stays[better] or min(areas[row], areas[better]) <= threshold * max(areas[row], areas[better]):
                continue
            width = min(boxes[row, 2], boxes[better, 2]) - max(boxes[row, 0], boxes[better, 0])
            height = min(boxes[row, 3], boxes[better, 3]) - max(boxes[row, 1], boxes[better, 1])
            shared = max(width, 0.0) * max(height, 0.0)
            if shared > threshold * (areas[row] + areas[better] - shared):
                stays[row] = False
                break
    return stays
