"""Boxes as arrays (n, 4) of x, y, width, height in pixels: overlap, order, clipping, suppression. NumPy only."""

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float32]
COLUMNS = ["x", "y", "width", "height"]


def overlaps(boxes: Boxes, others: Boxes) -> NDArray[np.float32]:
    """Intersection over union of every box with every other: (n, 4) and (m, 4) to (n, m), between 0 and 1."""
    ends, other_ends = boxes[:, :2] + boxes[:, 2:], others[:, :2] + others[:, 2:]
    begin = np.maximum(boxes[:, None, :2], others[None, :, :2])
    end = np.minimum(ends[:, None], other_ends[None])
    shared = np.clip(end - begin, 0, None).prod(axis=2)
    union = boxes[:, 2:].prod(axis=1)[:, None] + others[:, 2:].prod(axis=1)[None] - shared
    ratio: NDArray[np.float32] = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return ratio


def by_score(boxes: Boxes, scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The order of falling scores; equal scores by x, y, width and height, so that a cut is always the same one."""
    return np.lexsort((boxes[:, 3], boxes[:, 2], boxes[:, 1], boxes[:, 0], -scores))


def clip(boxes: Boxes, width: int, height: int) -> Boxes:
    """The part of each box inside an image of `width` x `height`; a box outside gets no area."""
    size = np.array([width, height], np.float32)
    begin = np.clip(boxes[:, :2], 0, size)
    end = np.clip(boxes[:, :2] + boxes[:, 2:], 0, size)
    return np.concatenate([begin, end - begin], axis=1).astype(np.float32)


def unique(boxes: Boxes) -> NDArray[np.int64]:
    """The indices of the first of each distinct box, in order."""
    return np.sort(np.unique(boxes, axis=0, return_index=True)[1])


def suppress(
    boxes: Boxes, scores: NDArray[np.float32], classes: NDArray[np.int64], threshold: float, most: int
) -> NDArray[np.int64]:
    """Non-maximum suppression within each class: the indices of at most `most` boxes, best first.

    Greedy, in the order of `by_score`: a box goes if it overlaps a better box of its own class, that stays, by more
    than `threshold` (R-CNN, section 2.2). (n, 4), (n,), (n,) to (at most `most`,).
    """
    waiting = by_score(boxes, scores)
    kept: list[int] = []
    while len(waiting) and len(kept) < most:
        best, waiting = waiting[0], waiting[1:]
        kept.append(int(best))
        rival = classes[waiting] == classes[best]
        close = overlaps(boxes[best : best + 1], boxes[waiting])[0] > threshold
        waiting = waiting[~(rival & close)]
    return np.array(kept, np.int64)
