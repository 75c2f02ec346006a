import numpy as np
import pytest
import torch
from torchvision.ops import batched_nms

from densevse.vision.boxes import clip_boxes, non_maximum_suppression, order_by_score, unique_boxes


def random_boxes(number: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.concatenate([random.uniform(0, 60, (number, 2)), random.uniform(1, 40, (number, 2))], 1).astype(
        np.float32
    )


def corners(boxes: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1))


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.7])
def test_suppression_agrees_with_torchvision(threshold):
    boxes, random = random_boxes(300), np.random.default_rng(2)
    scores, classes = random.permutation(300).astype(np.float32), random.integers(0, 4, 300)
    expected = batched_nms(corners(boxes), torch.from_numpy(scores), torch.from_numpy(classes), threshold).tolist()
    assert non_maximum_suppression(boxes, scores, classes, threshold, most=300).tolist() == expected
    assert non_maximum_suppression(boxes, scores, classes, threshold, most=19).tolist() == expected[:19]


def test_only_boxes_of_the_same_class_suppress_each_other():
    boxes, scores = np.float32([[0, 0, 10, 10]] * 2), np.float32([0.9, 0.8])
    assert non_maximum_suppression(boxes, scores, np.array([0, 0]), 0.3, 19).tolist() == [0]
    assert non_maximum_suppression(boxes, scores, np.array([0, 1]), 0.3, 19).tolist() == [0, 1]
    assert non_maximum_suppression(boxes[:0], scores[:0], np.array([], int), 0.3, 19).tolist() == []


def test_equal_scores_have_one_order_whatever_order_they_come_in():
    boxes = np.float32([[3, 1, 2, 2], [1, 2, 2, 2], [1, 1, 5, 2], [1, 1, 2, 9], [0, 9, 9, 9]])
    scores = np.float32([1, 1, 1, 1, 2])
    expected = boxes[[4, 3, 2, 1, 0]]
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(5)
        np.testing.assert_array_equal(boxes[shuffled][order_by_score(boxes[shuffled], scores[shuffled])], expected)


def test_clipping_keeps_what_is_inside():
    clipped = clip_boxes(np.float32([[-5, -5, 10, 10], [90, 10, 20, 20], [200, 0, 5, 5], [1, 2, 3, 4]]), 100, 50)
    assert clipped.tolist() == [[0, 0, 5, 5], [90, 10, 10, 20], [100, 0, 0, 5], [1, 2, 3, 4]]


def test_the_first_of_equal_boxes_stays():
    assert unique_boxes(np.float32([[1, 1, 2, 2], [0, 0, 2, 2], [1, 1, 2, 2], [0, 0, 2, 3]])).tolist() == [0, 1, 3]
