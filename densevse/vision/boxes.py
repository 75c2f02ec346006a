"""Operations on the boxes of an image: order, clipping, non-maximum suppression."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.boxes import Boxes, are_mostly_outside, intersection_over_union


def order_by_score(boxes: Boxes, scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The order of descending scores. Ties are broken by x, y, width and height, so that a cut is always the same."""
    return np.lexsort((boxes[:, 3], boxes[:, 2], boxes[:, 1], boxes[:, 0], -scores))


def clip_boxes(boxes: Boxes, width: float, height: float) -> Boxes:
    """The part of each box inside an image of `width` x `height`; a box outside gets an area of 0."""
    size = np.array([width, height], np.float32)
    begin = np.clip(boxes[:, :2], 0, size)
    end = np.clip(boxes[:, :2] + boxes[:, 2:], 0, size)
    return np.concatenate([begin, end - begin], axis=1).astype(np.float32)


def clip_scored_boxes(boxes: Boxes, width: float, height: float) -> Boxes:
    """`clip_boxes` of those that are inside with half of their area; others stay, and their artifact refuses them."""
    wrong = are_mostly_outside(boxes, np.array([width, height]))
    return np.where(wrong[:, None], boxes, clip_boxes(boxes, width, height))


def corners_to_boxes(corners: NDArray[Any]) -> Boxes:
    """Boxes (n, 4) of x, y, width and height from left, top, right and bottom."""
    return np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1).astype(np.float32)


def unique_boxes(boxes: Boxes) -> NDArray[np.int64]:
    """The indices of the first of each distinct box, in order."""
    return np.sort(np.unique(boxes, axis=0, return_index=True)[1])


def non_maximum_suppression(
    boxes: Boxes, scores: NDArray[np.float32], classes: NDArray[np.int64], threshold: float, most: int
) -> NDArray[np.int64]:
    """Non-maximum suppression within each class: the indices of at most `most` boxes, best first.

    Greedy, in the order of `order_by_score`: a box is removed if it overlaps a better box of its class, which stays, by
    more than `threshold` (R-CNN, section 2.2). Takes (n, 4), (n,) and (n,); returns at most `most` indices.
    """
    waiting = order_by_score(boxes, scores)
    kept: list[int] = []
    while len(waiting) and len(kept) < most:
        best, waiting = waiting[0], waiting[1:]
        kept.append(int(best))
        rival = classes[waiting] == classes[best]
        close = intersection_over_union(boxes[best], boxes[waiting]) > threshold
        waiting = waiting[~(rival & close)]
    return np.array(kept, np.int64)
