"""Candidates: single regions, pairs, triplets and 4-tuples of adjacent regions (Arbelaez et al., CVPR 2014, section 4).

A hierarchy is cut at descending strength, which splits its regions one after the other, coarsest first. Each split adds
two new regions, and every connected tuple of the cut's regions that contains one of the two. (A tuple with both equals
a smaller one with their parent, which was found before.) A tuple with a region of less than a twentieth of its area is
left out, as it is a near copy of a smaller tuple. The authors keep such tuples, and form tuples of regions of any
level; docs/proposals.md compares the results. A fixed number of tuples of each size is kept, the first ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from densevse.vision.mcg.hierarchy import Hierarchy, Labels, Superpixels

_LARGEST = 4
"""The largest number of regions of a candidate."""

NONE = -1
"""Fills the places of a tuple that has fewer regions than _LARGEST."""

NEAR_COPY = 0.95
"""Candidates that overlap by more than this (Jaccard) are near copies."""


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of each superpixel, and the shared edges of pixels; those of superpixel s start at `starts[s]`.

    `edges` are the rows of `Superpixels.pairs` from which they come.
    """

    starts: Labels
    others: Labels
    edges: Labels


def neighbours(superpixels: Superpixels) -> Neighbours:
    """The pairs of adjacent superpixels, both ways, ordered by superpixel."""
    pairs = superpixels.pairs
    both = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    starts = np.searchsorted(both[order, 0], np.arange(len(superpixels) + 1))
    edges = np.tile(np.arange(len(pairs)), 2)[order]
    return Neighbours(starts.astype(np.int32), both[order, 1].astype(np.int32), edges.astype(np.int32))


def tuples(hierarchy: Hierarchy, beside: Neighbours, areas: Labels, counts: Sequence[int]) -> Labels:
    """At most `counts[k]` candidates of k + 1 adjacent regions, k from 0: (n, 4) nodes, padded with -1.

    `areas` (S,) are the superpixels'.
    Singles come first, by descending strength of the contours at which the region is merged; then pairs, triplets and
    4-tuples, each in the order of the splits that add them.
    """
    most = np.zeros(_LARGEST, np.int64)
    most[: len(counts)] = counts
    leaves = len(hierarchy.children) + 1
    found = np.full((_LARGEST, most.max(), _LARGEST), NONE, np.int32)
    filled = np.zeros(_LARGEST, np.int64)
    singles = _regions(hierarchy)[: most[0]]
    found[0, : len(singles), 0] = singles
    if most[1:].any() and leaves > 1:
        _grow(hierarchy.children, hierarchy.altitudes, areas, beside.starts, beside.others, most, found, filled)
    filled[0] = len(singles)
    return np.concatenate([found[size, : filled[size]] for size in range(_LARGEST)])


def _regions(hierarchy: Hierarchy) -> Labels:
    """The nodes that a cut of the hierarchy can have: those merged over a contour, strongest first."""
    nodes = np.arange(len(hierarchy.altitudes) - 1, -1, -1, dtype=np.int32)
    shown = hierarchy.altitudes[hierarchy.parents[nodes]] > 0
    shown[0] = True
    return nodes[shown]


@njit(cache=True)
def _grow(children, altitudes, leaf_areas, beside_starts, beside, most, found, filled):
    """Splits the regions, coarsest first, and lists the tuples that each split adds, until all lists are full.

    A region of the cut has a place. Of two new regions, the one with more superpixels keeps the place of their parent.
    `shared` counts the adjacent superpixels of two places.
    """
    leaves = len(children) + 1
    order, begins, ends, areas = _order_superpixels(children, leaf_areas)
    shared = np.zeros((leaves, leaves), np.int16)
    node_at = np.full(leaves, len(altitudes) - 1, np.int32)
    area_at = np.zeros(leaves, np.int64)
    place_of = np.zeros(leaves, np.int32)
    where = np.zeros(len(altitudes), np.int32)
    extensions = np.empty((_LARGEST, leaves), np.int32)
    for new in range(1, leaves):
        node = len(altitudes) - new
        if altitudes[node] <= 0 or not _has_room(1, most, filled):
            break
        old = where[node]
        larger, smaller = children[node - leaves]
        if ends[larger] - begins[larger] < ends[smaller] - begins[smaller]:
            larger, smaller = smaller, larger
        for place, child in ((old, larger), (np.int32(new), smaller)):
            where[child], node_at[place], area_at[place] = place, child, areas[child]
        for at in range(begins[smaller], ends[smaller]):
            place_of[order[at]] = new
        for at in range(begins[smaller], ends[smaller]):
            superpixel = order[at]
            _move(beside[beside_starts[superpixel] : beside_starts[superpixel + 1]], old, new, place_of, shared)
        cut = (shared[: new + 1, : new + 1], node_at, area_at)
        _list_tuples(old, new, cut, extensions, most, found, filled)
        _list_tuples(new, old, cut, extensions, most, found, filled)


@njit(cache=True)
def _order_superpixels(children, leaf_areas):
    """Orders superpixels so that each node's are consecutive, from `begins` to `ends`; also returns nodes' areas."""
    leaves = len(leaf_areas)
    sizes, areas = np.ones(2 * leaves - 1, np.int32), np.zeros(2 * leaves - 1, np.int64)
    areas[:leaves] = leaf_areas
    for merge in range(leaves - 1):
        first, second = children[merge]
        sizes[leaves + merge] = sizes[first] + sizes[second]
        areas[leaves + merge] = areas[first] + areas[second]
    begins = np.zeros(2 * leaves - 1, np.int32)
    for merge in range(leaves - 2, -1, -1):
        first, second = children[merge]
        begins[first] = begins[leaves + merge]
        begins[second] = begins[first] + sizes[first]
    order = np.empty(leaves, np.int32)
    order[begins[:leaves]] = np.arange(leaves)
    return order, begins, begins + sizes, areas


@njit(cache=True)
def _has_room(size, most, filled):
    """True if a list of tuples with more than `size` regions still has room."""
    return (filled[size:] < most[size:]).any()


@njit(cache=True)
def _move(others, old, new, place_of, shared):
    """Counts the neighbours `others` of a superpixel that moved from the place `old` to the place `new`."""
    for other in others:
        place = place_of[other]
        if place == new:
            continue
        shared[new, place] += 1
        shared[place, new] += 1
        if place != old:
            shared[old, place] -= 1
            shared[place, old] -= 1


@njit(cache=True)
def _list_tuples(first, sibling, cut, extensions, most, found, filled):
    """Lists every connected tuple that contains the place `first` but not its sibling, once each.

    This is Wernicke's (2006) enumeration of connected subgraphs. A tuple has an extension: the places that may be added
    to it, one after the other. After a place is added, the longer tuple's extension is the rest of that list, with the
    new place's neighbours that are neither in the tuple nor beside it. `size` is the size of the tuple that grows.
    """
    shared, node_at, area_at = cut
    members, turns, lengths = np.zeros(_LARGEST, np.int32), np.zeros(_LARGEST, np.int32), np.zeros(_LARGEST, np.int32)
    members[0], size = first, 1
    lengths[1] = _add_neighbours(members[:0], first, sibling, shared, extensions[1], 0)
    while size > 0:
        if turns[size] == lengths[size] or not _has_room(size, most, filled):
            size -= 1
            continue
        members[size] = extensions[size, turns[size]]
        turns[size] += 1
        if not _is_balanced(members[: size + 1], area_at):
            continue
        if filled[size] < most[size]:
            for index in range(size + 1):
                found[size, filled[size], index] = node_at[members[index]]
            filled[size] += 1
        if size + 1 < _LARGEST and _has_room(size + 1, most, filled):
            waiting = lengths[size] - turns[size]
            extensions[size + 1, :waiting] = extensions[size, turns[size] : lengths[size]]
            before, place = members[:size], members[size]
            size += 1
            turns[size] = 0
            lengths[size] = _add_neighbours(before, place, sibling, shared, extensions[size], waiting)


@njit(cache=True)
def _is_balanced(members, area_at):
    """True if no place is too small to matter. A tuple with a small place keeps it, so it need not grow further."""
    smallest, total = area_at[members[0]], 0
    for member in members:
        smallest = min(smallest, area_at[member])
        total += area_at[member]
    return total - smallest <= NEAR_COPY * total


@njit(cache=True)
def _add_neighbours(before, place, sibling, shared, extension, length):
    """Appends the neighbours of `place` that are neither in the tuple `before` nor beside it; returns the length."""
    for other in range(len(shared)):
        if shared[place, other] > 0 and other != sibling:
            fresh = True
            for member in before:
                if other == member or shared[member, other] > 0:
                    fresh = False
            if fresh:
                extension[length] = other
                length += 1
    return length
