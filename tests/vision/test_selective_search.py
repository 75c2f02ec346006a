import cv2
import numpy as np
import pytest

from densevse.vision import selective_search as selective_search_module
from densevse.vision.selective_search import group_regions, initial_regions, selective_search


def picture(height: int = 96, width: int = 128, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    image = random.integers(180, 200, (height, width, 3), dtype=np.uint8)
    cv2.circle(image, (30, 40), 16, (220, 30, 30), -1)
    cv2.rectangle(image, (70, 20), (110, 70), (30, 60, 220), -1)
    return image


def search(image, mode="fast", height=None, minimum_side=4, most=2000, seed=7):
    return selective_search(image, mode, height, minimum_side, most, seed)


@pytest.mark.parametrize("mode", ["single", "fast", "quality"])
def test_same_boxes_in_the_same_order_whatever_was_drawn_before(mode):
    first = search(picture(), mode)
    cv2.setRNGSeed(5)
    np.testing.assert_array_equal(search(picture(), mode), first)
    assert len(np.unique(first, axis=0)) == len(first) > 3


def test_the_seed_changes_the_order_but_not_the_boxes():
    first, second = search(picture(), seed=1), search(picture(), seed=2)
    assert not np.array_equal(first, second)
    assert set(map(tuple, first.tolist())) == set(map(tuple, second.tolist()))


def test_large_regions_come_early():
    """As in section 4.3; the small regions, of which there are most, would be first in the reverse order."""
    boxes = search(picture())
    area = boxes[:, 2:].prod(axis=1)
    first, last = np.array_split(area, 2)
    assert np.median(first) > np.median(last)


def test_a_large_image_is_searched_in_a_smaller_size(monkeypatch):
    sizes = []
    segmented = selective_search_module._segment_image
    monkeypatch.setattr(
        selective_search_module,
        "_segment_image",
        lambda image, ways: sizes.append(image.shape) or segmented(image, ways),
    )
    monkeypatch.setattr(selective_search_module, "MOST_PIXELS", 5000)
    boxes = search(picture(), "single", minimum_side=1)
    assert all(height * width <= 5100 for height, width, _ in sizes)
    assert (boxes[:, :2] + boxes[:, 2:]).max(axis=0).tolist() == [128, 96]
    search(np.zeros((2, 200, 3), np.uint8), "single", height=2000)
    assert sizes[-1][0] * sizes[-1][1] <= 5100


def test_things_are_found():
    boxes = search(picture())
    for true in ((14, 24, 33, 33), (70, 20, 41, 51)):
        assert np.abs(boxes - np.float32(true)).max(axis=1).min() <= 4


def test_more_boxes_only_add_at_the_end():
    np.testing.assert_array_equal(search(picture(), most=5), search(picture())[:5])


def test_boxes_of_a_resized_search_are_in_pixels_of_the_image():
    image = cv2.resize(picture(), (512, 384), interpolation=cv2.INTER_NEAREST)
    boxes = search(image, height=96)
    assert np.abs(boxes - np.float32((280, 80, 164, 204))).max(axis=1).min() <= 16
    ends = boxes[:, :2] + boxes[:, 2:]
    assert boxes.min() >= 0
    assert (ends <= [512, 384]).all()


def test_small_sides_are_left_out():
    boxes = search(picture(), minimum_side=30)
    assert len(boxes)
    assert boxes[:, 2:].min() >= 30


@pytest.mark.parametrize("shape", [(1, 1, 3), (3, 200, 3), (96, 96, 3)])
def test_images_without_anything_in_them(shape):
    boxes = search(np.zeros(shape, np.uint8), minimum_side=10)
    assert boxes.shape[1] == 4
    assert boxes.dtype == np.float32
    assert len(boxes) == (1 if shape == (96, 96, 3) else 0)


# Grouping against Algorithm 1 written down literally, on segmentations of a few regions.

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
    found = group_regions(initial_regions(labels, colour, texture), measures)
    assert [tuple(corners) for corners in found.tolist()] == literal(labels, colour, texture, measures)


def test_one_region_is_its_own_hierarchy():
    labels = np.zeros((3, 5), int)
    found = group_regions(initial_regions(labels, labels[None], labels[None]), EVERY)
    assert found.tolist() == [[0, 0, 5, 3]]
