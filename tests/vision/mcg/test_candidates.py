"""Sets of superpixels against the same things computed on masks."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.io import loadmat
from scipy.ndimage import binary_fill_holes

from densevse.vision.mcg.candidates import (
    FEATURES,
    candidates,
    distinct_candidates,
    features,
    fill_holes,
    group_nodes,
    join_candidates,
)
from densevse.vision.mcg.grouping import neighbours, tuples
from densevse.vision.mcg.hierarchy import hierarchies
from tests.vision.mcg.pictures import masks, noise

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "../shared/data/mcg"
COUNTS = [[40] * 3, [30] * 3, [20] * 3, [20] * 3]


@pytest.fixture(scope="module")
def found():
    return hierarchies([noise(48, 60), noise(48, 60, 1, 6)], 10_000)


@pytest.fixture(scope="module")
def raw(found):
    beside, areas = neighbours(found.superpixels), found.superpixels.areas
    parts = [
        group_nodes(found.superpixels, tree, tuples(tree, beside, areas, [row[0] for row in COUNTS]))
        for tree in found.trees
    ]
    return join_candidates(parts)


def jaccard(first: np.ndarray, second: np.ndarray) -> float:
    return (first & second).sum() / (first | second).sum()


def test_areas_and_boxes_are_those_of_the_masks(found, raw):
    for number, mask in enumerate(masks(raw, found.superpixels)):
        rows, columns = np.nonzero(mask)
        assert raw.areas[number] == mask.sum()
        assert raw.boxes[number].tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def test_holes_are_filled(found, raw):
    filled = fill_holes(raw, found.superpixels, neighbours(found.superpixels))
    before, after = masks(raw, found.superpixels), masks(filled, found.superpixels)
    assert (filled.areas > raw.areas).any()
    for hollow, full, area in zip(before, after, filled.areas, strict=True):
        assert (full == binary_fill_holes(hollow)).all()
        assert area == full.sum()


def test_no_two_candidates_are_near_copies(found, raw):
    stays = set(distinct_candidates(raw, found.superpixels.areas).tolist())
    drawn = masks(raw, found.superpixels)
    assert 0 < len(stays) < len(raw)
    for number in range(len(raw)):
        others = [jaccard(drawn[number], drawn[other]) for other in stays if other != number]
        assert (max(others) <= 0.95) if number in stays else (max(others) > 0.95)


def test_features_are_those_of_the_masks(found):
    chosen = candidates(found, COUNTS)
    rows = features(chosen, found)
    strength = {}
    for pair, value in zip(found.superpixels.pairs.tolist(), found.strengths.max(axis=0), strict=True):
        strength[tuple(pair)] = strength[tuple(pair[::-1])] = value
    labels = found.superpixels.labels
    for row, mask in zip(rows, masks(chosen, found.superpixels), strict=True):
        expected = _features(mask, labels, strength)
        got = dict(zip(FEATURES, row.tolist(), strict=True))
        for name, value in expected.items():
            assert got[name] == pytest.approx(value, rel=1e-5), name
        assert 0 < got["balance"] <= 1
        assert got["latest_end"] >= got["earliest_start"]


def _features(mask: np.ndarray, labels: np.ndarray, strength: dict) -> dict[str, float]:
    height, width = mask.shape
    perimeter, contour = 0, 0.0
    for row, column in zip(*np.nonzero(mask), strict=True):
        for beside in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if not (0 <= beside[0] < height and 0 <= beside[1] < width):
                perimeter += 1
            elif not mask[beside]:
                perimeter += 2
                contour += 2 * strength[labels[row, column], labels[beside]]
    rows, columns = np.nonzero(mask)
    left, top, right, bottom = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
    area, box = mask.sum(), (right - left) * (bottom - top)
    return {
        "area": area / mask.size,
        "perimeter": perimeter,
        "contour": contour,
        "mean_contour": contour / perimeter,
        "compactness": perimeter**2 / area,
        "contour_by_size": contour / area**0.5,
        "left": left / width,
        "top": top / height,
        "right": right / width,
        "bottom": bottom / height,
        "box_area": box,
        "filled": area / box,
        "aspect": (right - left) / (bottom - top),
    }


def test_a_single_pixel_has_features():
    one = hierarchies([np.zeros((1, 1), np.uint8)], 10)
    assert np.isfinite(features(candidates(one, [[5], [5], [5], [5]]), one)).all()


@pytest.mark.parametrize("proposer", ["mcg", "scg"])
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the authors' files are not in ../shared/data/mcg")
def test_pareto_points_are_the_authors(proposer):
    chosen = yaml.safe_load((ROOT / f"config/proposers/{proposer}.yaml").read_text())["options"]["candidates"]
    assert chosen == loadmat(PUBLISHED / f"{proposer}_pareto_point_train2012.mat")["n_cands"].tolist()
