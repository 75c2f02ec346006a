import cv2
import numpy as np
import pytest

from densevse.vision import selective_search as selective_search_module
from densevse.vision.selective_search import selective_search


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
    segmented = selective_search_module._segmented
    monkeypatch.setattr(
        selective_search_module, "_segmented", lambda image, ways: sizes.append(image.shape) or segmented(image, ways)
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
