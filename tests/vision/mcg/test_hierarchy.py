"""Hierarchies: superpixels tile the image, trees nest, coarse contours are projected onto fine ones."""

import numpy as np
import pytest

from densevse.vision.mcg.hierarchy import hierarchies
from tests.vision.mcg.pictures import noise


def squares() -> np.ndarray:
    """Four squares: strong contours between left and right, weak ones between above and below."""
    contour = np.zeros((21, 21), np.uint8)
    contour[10] = 60
    contour[:, 10] = 200
    return contour


def test_superpixels_tile_the_image():
    superpixels = hierarchies([noise(40, 50)], 10_000).superpixels
    labels = superpixels.labels
    assert (superpixels.areas == np.bincount(labels.ravel())).all()
    for label in range(len(superpixels)):
        rows, columns = np.nonzero(labels == label)
        assert superpixels.boxes[label].tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    assert superpixels.borders.sum() == 2 * (40 + 50)


def test_lengths_count_the_edges_of_pixels_between_superpixels():
    superpixels = hierarchies([noise(20, 30)], 10_000).superpixels
    labels, counted = superpixels.labels, {}
    for first, second in ((labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])):
        for pair in zip(first.ravel().tolist(), second.ravel().tolist(), strict=True):
            if pair[0] != pair[1]:
                counted[frozenset(pair)] = counted.get(frozenset(pair), 0) + 1
    pairs = [frozenset(pair) for pair in superpixels.pairs.tolist()]
    assert dict(zip(pairs, superpixels.lengths.tolist(), strict=True)) == counted


def test_weak_contours_merge_first():
    found = hierarchies([squares()], 10_000)
    tree = found.trees[0]
    assert len(found.superpixels) == 4
    halves = [set(found.superpixels.labels[:, columns].ravel().tolist()) for columns in (slice(0, 9), slice(12, 21))]
    assert [set(pair) for pair in tree.children[:2].tolist()] in (halves, halves[::-1])
    assert tree.altitudes[-1] > tree.altitudes[-2] >= tree.altitudes[-3] > 0
    assert (tree.altitudes[:4] == 0).all()
    assert tree.parents.tolist()[-1] == 6


def test_a_wide_contour_encloses_no_slivers_and_is_as_strong_as_its_ridge():
    wide = np.zeros((30, 41), np.uint8)
    wide[:, 16:25] = [20, 60, 120, 200, 195, 200, 120, 60, 20]
    found = hierarchies([wide], 10_000)
    assert len(found.superpixels) == 2
    assert found.trees[0].altitudes[-1] == pytest.approx(200 / 255)


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (2, 2), (3, 400)])
def test_an_image_of_any_size_has_a_hierarchy(shape):
    found = hierarchies([noise(*shape, seed) for seed in range(3)], 10_000)
    assert found.superpixels.areas.sum() == shape[0] * shape[1]
    assert len(found.trees) == 4


def test_trees_nest_and_rise():
    found = hierarchies([noise(40, 50, seed) for seed in range(3)], 10_000)
    assert len(found.trees) == 4
    for tree in found.trees:
        parents = tree.parents
        assert (parents[:-1] > np.arange(len(parents) - 1)).all()
        assert (np.bincount(parents[:-1])[len(found.superpixels) :] == 2).all()
        assert (tree.altitudes[parents] >= tree.altitudes).all()


def test_a_coarse_contour_is_projected_onto_the_finest_superpixels():
    shifted = np.zeros((21, 21), np.uint8)
    shifted[:, 11] = 100
    found = hierarchies([squares(), shifted], 10_000)
    assert len(found.superpixels) == 4
    coarse = found.trees[1]
    assert sorted(coarse.altitudes[4:].tolist()) == pytest.approx([0, 0, coarse.altitudes[-1]])
    assert coarse.altitudes[-1] > 0


def test_the_multiscale_hierarchy_averages_the_others():
    same = hierarchies([squares(), squares(), squares()], 10_000)
    for tree in same.trees[1:]:
        assert tree.altitudes == pytest.approx(same.trees[0].altitudes)


def test_the_number_of_superpixels_is_bounded():
    found = hierarchies([noise(60, 60), noise(60, 60, 1)], 50)
    assert len(found.superpixels) == 50
    assert found.superpixels.areas.sum() == 3600


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (20_000, 2), (30, 40)])
def test_flat_images_are_one_region(shape):
    found = hierarchies([np.zeros(shape, np.uint8)] * 3, 100)
    assert len(found.superpixels) == 1
    assert found.superpixels.boxes.tolist() == [[0, 0, shape[1], shape[0]]]
    assert all(len(tree.children) == 0 for tree in found.trees)
