"""Overlaps of boxes, and masks against the run lengths that encode them."""

import numpy as np
import pytest
import torch
from torchvision.ops import box_iou

from densevse.artifacts.boxes import intersection_over_union
from densevse.artifacts.schemas.proposals import run_lengths, runs_to_mask


def random_boxes(number: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.concatenate([random.uniform(0, 60, (number, 2)), random.uniform(1, 40, (number, 2))], 1).astype("float32")


def corners(boxes: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1))


def test_overlaps_agree_with_torchvision():
    boxes, others = random_boxes(50), random_boxes(30, seed=1)
    found = intersection_over_union(boxes[:, None], others[None])
    np.testing.assert_allclose(found, box_iou(corners(boxes), corners(others)), atol=1e-5)


def test_row_by_row_is_the_diagonal_of_all_pairs():
    boxes, others = random_boxes(20).astype(float), random_boxes(20, seed=1).astype(float)
    found = intersection_over_union(boxes, others)
    assert np.array_equal(found, np.diag(intersection_over_union(boxes[:, None], others[None])))


def test_overlap_of_a_box_with_itself_with_none_and_without_area():
    box, other, empty = np.float32([0, 0, 4, 4]), np.float32([4, 0, 4, 4]), np.float32([1, 1, 0, 0])
    assert intersection_over_union(box, box) == 1
    assert intersection_over_union(box, other) == 0
    assert intersection_over_union(empty, empty) == 0
    assert intersection_over_union(box, np.empty((0, 4), np.float32)).shape == (0,)


def drawn(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((7, 9)) < 0.5


@pytest.mark.parametrize("mask", [drawn(0), drawn(1), np.ones((2, 3), bool), np.zeros((3, 2), bool)])
def test_a_mask_is_decoded_as_it_was_encoded(mask):
    assert (runs_to_mask(run_lengths(mask), *mask.shape) == mask).all()


def test_the_first_run_is_outside_and_columns_come_first():
    assert run_lengths(np.array([[1, 0], [1, 1]], bool)).tolist() == [0, 2, 1, 1]
    assert run_lengths(np.array([[0, 0], [1, 1]], bool)).tolist() == [1, 1, 1, 1]
