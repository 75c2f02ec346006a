"""Candidates as sets of superpixels: fills their holes, removes near copies, and describes each by 16 features.

A set is a row of bits, 64 superpixels in a word. The superpixels of the hierarchies are disjoint, so that areas, boxes,
boundaries and overlaps of sets are sums over their superpixels (Arbelaez et al., CVPR 2014, sections 4 and 5).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from densevse.runtime.arrays import Reals
from densevse.vision.mcg.grouping import NEAR_COPY, Neighbours, neighbours, tuples
from densevse.vision.mcg.hierarchy import Hierarchies, Hierarchy, Labels, Superpixels

Bits = NDArray[np.uint64]

STRONGEST = 1.0
"""The strength at which the whole image would merge with its surroundings."""

_UNKNOWN, _MEMBER, VISITED, HOLE, OUTSIDE = 0, 1, 2, 3, 4
"""The state of a superpixel while the holes of a set are filled."""

FEATURES = (
    "latest_end",  # the largest strength at which one of its regions is merged
    "earliest_start",  # the smallest strength at which one of its regions was formed
    "balance",  # area of the smallest region by that of the largest
    "area",  # as a share of the image
    "perimeter",
    "contour",  # the sum of the contours' strength along the boundary
    "mean_contour",
    "compactness",  # perimeter squared by area
    "contour_by_size",  # sum of contours by the square root of the area
    "left",  # of the box, as shares of the image's width and height
    "top",
    "right",
    "bottom",
    "box_area",  # pixels
    "filled",  # area by the box's
    "aspect",  # the box's width by its height
)
"""The features that rank a candidate, in the order of the authors' training sample."""


@dataclass(frozen=True)
class GroupedCandidates:
    """C candidates of an image: `bits` (C, words), `areas` (C,) and `boxes` (C, 4) left, top, right, bottom in pixels.

    `starts`, `ends` and `balances` (C,) are the FEATURES of the regions from which a candidate was grouped.
    """

    bits: Bits
    areas: Reals
    boxes: Labels
    starts: Reals
    ends: Reals
    balances: Reals

    def __len__(self) -> int:
        return len(self.areas)

    def __getitem__(self, chosen: NDArray[np.int64]) -> "GroupedCandidates":
        return GroupedCandidates(*(array[chosen] for array in vars(self).values()))


def candidates(found: Hierarchies, counts: Sequence[Sequence[int]]) -> GroupedCandidates:
    """The candidates of an image, with holes filled and without near copies, smallest first.

    `counts` is a Pareto point: it takes `counts[k][h]` candidates of k + 1 regions from hierarchy h.
    """
    beside, areas = neighbours(found.superpixels), found.superpixels.areas
    grouped = [
        group_nodes(found.superpixels, tree, tuples(tree, beside, areas, [row[number] for row in counts]))
        for number, tree in enumerate(found.trees)
    ]
    everything = join_candidates(grouped)
    different = everything[distinct_candidates(everything, areas)]
    filled = fill_holes(different, found.superpixels, beside)
    return filled[distinct_candidates(filled, areas)]


def join_candidates(parts: Sequence[GroupedCandidates]) -> GroupedCandidates:
    """Joins lists of candidates."""
    return GroupedCandidates(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))


def group_nodes(superpixels: Superpixels, tree: Hierarchy, nodes: Labels) -> GroupedCandidates:
    """The candidates of tuples of a hierarchy's nodes, (C, LARGEST) padded with -1, as sets of superpixels."""
    bits, areas, boxes = _nodes(tree.children, superpixels.areas, superpixels.boxes)
    ends = np.append(tree.altitudes[tree.parents[:-1]], STRONGEST)
    padding = nodes < 0
    node_areas = areas[nodes]
    smallest = np.where(padding, np.inf, node_areas).min(axis=1)
    largest = np.where(padding, 0, node_areas).max(axis=1)
    return GroupedCandidates(
        bits=_union(bits, nodes),
        areas=np.where(padding, 0, node_areas).sum(axis=1).astype(np.float64),
        boxes=_enclosing_boxes(boxes, nodes),
        starts=np.where(padding, np.inf, tree.altitudes[nodes]).min(axis=1),
        ends=np.where(padding, 0, ends[nodes]).max(axis=1),
        balances=smallest / largest,
    )


def features(chosen: GroupedCandidates, found: Hierarchies) -> NDArray[np.float32]:
    """(C, 16) FEATURES of candidates.

    Boundaries are measured as the authors do, on the grid of a contour map with an element between any two pixels.
    Inside the image an edge between pixels counts as two elements; on the border it counts as one, without strength.
    The strength of an edge is its largest in any hierarchy.
    """
    superpixels, beside = found.superpixels, neighbours(found.superpixels)
    strengths = 2 * superpixels.lengths * found.strengths.max(axis=0)
    perimeters, contours = _boundaries(
        chosen.bits, beside.starts, beside.others, 2 * superpixels.lengths[beside.edges], strengths[beside.edges],
        superpixels.borders,
    )  # fmt: skip
    height, width = superpixels.labels.shape
    left, top, right, bottom = chosen.boxes.T.astype(np.float64)
    boxes = (right - left) * (bottom - top)
    columns = [
        chosen.ends, chosen.starts, chosen.balances, chosen.areas / (height * width),
        perimeters, contours, contours / perimeters, perimeters**2 / chosen.areas, contours / np.sqrt(chosen.areas),
        left / width, top / height, right / width, bottom / height,
        boxes, chosen.areas / boxes, (right - left) / (bottom - top),
    ]  # fmt: skip
    return np.stack(columns, axis=1).astype(np.float32)


def fill_holes(chosen: GroupedCandidates, superpixels: Superpixels, beside: Neighbours) -> GroupedCandidates:
    """Fills the holes of candidates. Boxes do not change, as holes lie within them."""
    bits, areas = chosen.bits.copy(), chosen.areas.copy()
    _fill(bits, areas, chosen.boxes, superpixels.areas, superpixels.boxes, beside.starts, beside.others)
    return replace(chosen, bits=bits, areas=areas)


def distinct_candidates(chosen: GroupedCandidates, superpixel_areas: Labels) -> NDArray[np.int64]:
    """The indices of the candidates that are no near copies of smaller ones; of equal ones, the first stays."""
    order = np.argsort(chosen.areas, kind="stable")
    stays = _mark_distinct_sets(chosen.bits[order], chosen.areas[order], superpixel_areas, NEAR_COPY)
    return np.asarray(order[stays], np.int64)


def unpack_bits(bits: Bits, number: int) -> NDArray[np.bool_]:
    """(C, S) bool: the superpixels of each set."""
    places = np.arange(number)
    return (bits[:, places // 64] >> (places % 64).astype(np.uint64) & np.uint64(1)).astype(bool)


@njit(cache=True)
def _nodes(children, leaf_areas, leaf_boxes):
    """The set, area and box of every node of a tree."""
    leaves = len(children) + 1
    bits = np.zeros((2 * leaves - 1, (leaves + 63) // 64), np.uint64)
    areas = np.zeros(2 * leaves - 1, np.int64)
    boxes = np.zeros((2 * leaves - 1, 4), np.int32)
    areas[:leaves], boxes[:leaves] = leaf_areas, leaf_boxes
    for leaf in range(leaves):
        bits[leaf, leaf // 64] = np.uint64(1) << np.uint64(leaf % 64)
    for merge in range(leaves - 1):
        node, first, second = leaves + merge, children[merge, 0], children[merge, 1]
        bits[node] = bits[first] | bits[second]
        areas[node] = areas[first] + areas[second]
        boxes[node, :2] = np.minimum(boxes[first, :2], boxes[second, :2])
        boxes[node, 2:] = np.maximum(boxes[first, 2:], boxes[second, 2:])
    return bits, areas, boxes


@njit(cache=True)
def _union(bits, nodes):
    found = np.zeros((len(nodes), bits.shape[1]), np.uint64)
    for row in range(len(nodes)):
        for node in nodes[row]:
            if node >= 0:
                found[row] |= bits[node]
    return found


def _enclosing_boxes(boxes: Labels, nodes: Labels) -> Labels:
    """The box around the boxes of each tuple's nodes."""
    of_nodes = boxes[np.where(nodes < 0, nodes[:, :1], nodes)]
    return np.concatenate([of_nodes[:, :, :2].min(axis=1), of_nodes[:, :, 2:].max(axis=1)], axis=1)


@njit(cache=True)
def _has_superpixel(row, superpixel):
    return (row[superpixel >> 6] >> np.uint64(superpixel & 63)) & np.uint64(1) != 0


@njit(cache=True)
def _lowest_bit(word):
    """The index of the lowest set bit of a word that is not 0."""
    number = 0
    while word & np.uint64(0xFF) == 0:
        word >>= np.uint64(8)
        number += 8
    while word & np.uint64(1) == 0:
        word >>= np.uint64(1)
        number += 1
    return number


@njit(cache=True)
def _list_members(row, members):
    """Writes the superpixels of a set into `members`; returns their number."""
    number = 0
    for place in range(len(row)):
        word = row[place]
        while word:
            members[number] = 64 * place + _lowest_bit(word)
            word &= word - np.uint64(1)
            number += 1
    return number


@njit(cache=True)
def _fill(bits, areas, boxes, leaf_areas, leaf_boxes, starts, others):
    """Fills holes in place: floods the surroundings of a set; a flood that stays inside the box fills a hole.

    `state` is each superpixel's state for the current set; see the constants.
    """
    leaves = len(leaf_areas)
    state = np.zeros(leaves, np.int8)
    members, waiting = np.empty(leaves, np.int32), np.empty(leaves, np.int32)
    for number in range(len(bits)):
        state[:] = _UNKNOWN
        size = _list_members(bits[number], members)
        for at in range(size):
            state[members[at]] = _MEMBER
        for at in range(size):
            for beside in range(starts[members[at]], starts[members[at] + 1]):
                if state[others[beside]] != _UNKNOWN:
                    continue
                reached, kind = _flood(others[beside], boxes[number], leaf_boxes, starts, others, state, waiting)
                for superpixel in waiting[:reached]:
                    state[superpixel] = kind
                    if kind == HOLE:
                        bits[number, superpixel >> 6] |= np.uint64(1) << np.uint64(superpixel & 63)
                        areas[number] += leaf_areas[superpixel]


@njit(cache=True)
def _flood(start, box, leaf_boxes, starts, others, state, waiting):
    """Lists in `waiting` what `start` reaches before the outside; returns the number, and HOLE or OUTSIDE."""
    state[start], waiting[0], reached, done = VISITED, start, 1, 0
    while done < reached:
        here = waiting[done]
        if (
            leaf_boxes[here, 0] <= box[0]
            or leaf_boxes[here, 1] <= box[1]
            or leaf_boxes[here, 2] >= box[2]
            or leaf_boxes[here, 3] >= box[3]
        ):
            return reached, OUTSIDE
        for at in range(starts[here], starts[here + 1]):
            other = others[at]
            if state[other] == _UNKNOWN:
                state[other], waiting[reached] = VISITED, other
                reached += 1
            elif state[other] == OUTSIDE:
                return reached, OUTSIDE
        done += 1
    return reached, HOLE


@njit(cache=True)
def _differ(first, second, leaf_areas, most):
    """True if the superpixels in exactly one of two sets have an area of more than `most`."""
    area = 0
    for place in range(len(first)):
        word = first[place] ^ second[place]
        while word:
            area += leaf_areas[64 * place + _lowest_bit(word)]
            if area > most:
                return True
            word &= word - np.uint64(1)
    return False


@njit(cache=True)
def _mark_distinct_sets(bits, areas, leaf_areas, threshold):
    """(C,) bool: marks the sets, of ascending area, that overlap no earlier marked one by more than `threshold`.

    With intersection I and difference D, I / (I + D) > t is D < (1 - t) (A + B + D) / 2.
    """
    stays = np.ones(len(bits), np.bool_)
    kept = np.empty(len(bits), np.int64)
    filled, first = 0, 0
    for row in range(len(bits)):
        while first < filled and areas[kept[first]] < threshold * areas[row]:
            first += 1
        for at in range(filled - 1, first - 1, -1):
            most = (1 - threshold) / (1 + threshold) * (areas[row] + areas[kept[at]])
            if not _differ(bits[row], bits[kept[at]], leaf_areas, most):
                stays[row] = False
                break
        if stays[row]:
            kept[filled] = row
            filled += 1
    return stays


@njit(cache=True)
def _boundaries(bits, starts, others, lengths, strengths, borders):
    """The perimeter of each set, and the strength of the contours along it."""
    perimeters, contours = np.zeros(len(bits)), np.zeros(len(bits))
    members = np.empty(len(borders), np.int32)
    for number in range(len(bits)):
        for member in members[: _list_members(bits[number], members)]:
            perimeters[number] += borders[member]
            for at in range(starts[member], starts[member + 1]):
                if not _has_superpixel(bits[number], others[at]):
                    perimeters[number] += lengths[at]
                    contours[number] += strengths[at]
    return perimeters, contours
