"""Grouping against Algorithm 1 written down literally, on segmentations of a few regions."""

import numpy as np
import pytest

from densevse.vision.selective_search import group, initial_regions

EVERY = {"colour", "texture", "size", "fill"}


def segmentation(seed: int = 0):
    """24 patches of unequal sizes, so that similarities are unequal too; random bins of 2 channels and 3 textures."""
    random = np.random.default_rng(seed)
    labels = random.permutation(24).reshape(4, 6).repeat([5, 7, 11, 6], axis=0).repeat([13, 5, 8, 11, 6, 17], axis=1)
    colour = random.integers(0, 5, (2, *labels.shape)) + 5 * np.arange(2)[:, None, None]
    texture = random.integers(0, 4, (3, *labels.shape)) + 4 * np.arange(3)[:, None, None]
    return labels, colour, texture


def histogram(mask, bins):
    counted = np.bincount(np.concatenate([channel[mask] for channel in bins]), minlength=bins.max() + 1)
    return counted / counted.sum()


def box(mask):
    y, x = np.nonzero(mask)
    return x.min(), y.min(), x.max() + 1, y.max() + 1


def similarity(one, other, colour, texture, measures):
    """Eq 1 to 6, from the pixels of two regions."""
    pixels, both = one.size, one | other
    left, top, right, bottom = box(both)
    measured = {
        "colour": np.minimum(histogram(one, colour), histogram(other, colour)).sum(),
        "texture": np.minimum(histogram(one, texture), histogram(other, texture)).sum(),
        "size": 1 - both.sum() / pixels,
        "fill": 1 - ((right - left) * (bottom - top) - both.sum()) / pixels,
    }
    return sum(measured[name] for name in measures)


def touch(one, other):
    return (
        (one[:, 1:] & other[:, :-1]).any()
        or (one[:, :-1] & other[:, 1:]).any()
        or (one[1:] & other[:-1]).any()
        or (one[:-1] & other[1:]).any()
    )


def literal(labels, colour, texture, measures):
    """Algorithm 1: regions as masks, with all similarities computed again after each merge."""
    made = [labels == label for label in range(labels.max() + 1)]
    there = list(range(len(made)))
    while len(there) > 1:
        pairs = [(i, j) for i in there for j in there if i < j and touch(made[i], made[j])]
        i, j = max(pairs, key=lambda pair: similarity(made[pair[0]], made[pair[1]], colour, texture, measures))
        made.append(made[i] | made[j])
        there = [other for other in there if other not in (i, j)] + [len(made) - 1]
    return [box(mask) for mask in reversed(made)]


@pytest.mark.parametrize("measures", [EVERY, {"texture", "size", "fill"}, {"fill", "colour"}])
@pytest.mark.parametrize("seed", [0, 1, 3])  # where no two similarities are equal
def test_the_hierarchy_is_that_of_the_literal_algorithm(measures, seed):
    labels, colour, texture = segmentation(seed)
    found = group(initial_regions(labels, colour, texture), measures)
    assert [tuple(corners) for corners in found.tolist()] == literal(labels, colour, texture, measures)


def test_one_region_is_its_own_hierarchy():
    labels = np.zeros((3, 5), int)
    found = group(initial_regions(labels, labels[None], labels[None]), EVERY)
    assert found.tolist() == [[0, 0, 5, 3]]
