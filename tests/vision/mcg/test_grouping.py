"""Grouping: every connected tuple of every cut, once, coarsest first; compared with a search of all combinations."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from densevse.vision.mcg.grouping import neighbours, tuples
from densevse.vision.mcg.hierarchy import Hierarchies, hierarchies
from tests.vision.mcg.pictures import noise

ALL = [10**4] * 4


def listed(found: Hierarchies, counts: list[int], tree: int = 0) -> list[tuple[int, ...]]:
    superpixels = found.superpixels
    rows = tuples(found.trees[tree], neighbours(superpixels), superpixels.areas, counts)
    return [tuple(node for node in row if node >= 0) for row in rows.tolist()]


def cuts(found: Hierarchies) -> Iterator[tuple[set[int], set[int]]]:
    """The nodes of every cut, coarsest first, and those that its last split brought."""
    tree, leaves = found.trees[0], len(found.superpixels)
    cut = {2 * leaves - 2}
    yield cut, cut
    for node in range(2 * leaves - 2, leaves - 1, -1):
        if tree.altitudes[node] > 0:
            born = set(tree.children[node - leaves].tolist())
            cut = cut - {node} | born
            yield cut, born


def members(found: Hierarchies) -> list[frozenset[int]]:
    """The superpixels of each node."""
    sets = [frozenset([leaf]) for leaf in range(len(found.superpixels))]
    for first, second in found.trees[0].children.tolist():
        sets.append(sets[first] | sets[second])
    return sets


def connected(nodes: tuple[int, ...], sets: list[frozenset[int]], pairs: set[frozenset[int]]) -> bool:
    reached, waiting = set(), {nodes[0]}
    while waiting:
        reached |= waiting
        edge = set().union(*(sets[node] for node in reached))
        rest = set(nodes) - reached
        waiting = {node for node in rest if any(frozenset(p) in pairs for p in itertools.product(edge, sets[node]))}
    return reached == set(nodes)


@pytest.mark.parametrize("seed", range(3))
def test_every_balanced_connected_tuple_of_a_cut_is_listed_once(seed):
    found = hierarchies([noise(18, 24, seed, 2)], 10_000)
    assert 10 < len(found.superpixels) < 40
    sets, pairs = members(found), {frozenset(pair) for pair in found.superpixels.pairs.tolist()}
    areas = [sum(found.superpixels.areas[leaf] for leaf in nodes) for nodes in sets]
    expected = set()
    for cut, born in cuts(found):
        expected |= {frozenset([node]) for node in born}
        for size in (2, 3, 4):
            for nodes in itertools.combinations(sorted(cut), size):
                sizes = [areas[node] for node in nodes]
                new = len(born & set(nodes)) == 1
                if new and sum(sizes) - min(sizes) <= 0.95 * sum(sizes) and connected(nodes, sets, pairs):
                    expected.add(frozenset(nodes))
    got = listed(found, ALL)
    assert len(got) == len(set(map(frozenset, got)))
    assert {frozenset(nodes) for nodes in got} == expected


def test_a_shorter_list_is_the_beginning_of_a_longer_one():
    found = hierarchies([noise(30, 30)], 10_000)
    everything = listed(found, ALL)
    for counts in ([5, 7, 9, 11], [3, 0, 4, 0], [0, 0, 0, 6], [2]):
        chosen = listed(found, counts)
        for size in (1, 2, 3, 4):
            of_size = [nodes for nodes in everything if len(nodes) == size]
            most = counts[size - 1] if size <= len(counts) else 0
            assert [nodes for nodes in chosen if len(nodes) == size] == of_size[:most]


def test_singles_come_by_falling_strength():
    found = hierarchies([noise(30, 30)], 10_000)
    strengths = [found.trees[0].altitudes[nodes[0]] for nodes in listed(found, [10**4])]
    assert strengths == sorted(strengths, reverse=True)
    assert len(strengths) == 2 * len(found.superpixels) - 1


def test_regions_without_a_contour_between_them_are_no_regions():
    coarse = np.zeros((30, 30), np.uint8)
    coarse[:, 15] = 100
    found = hierarchies([noise(30, 30), coarse], 10_000)
    assert len(listed(found, ALL, tree=1)) == 3


def test_an_image_of_one_region_is_a_single():
    found = hierarchies([np.zeros((5, 5), np.uint8)], 10)
    assert listed(found, ALL) == [(0,)]
