"""Boxes as arrays (..., 4) of x, y, width, height in pixels: the names of their columns, and how far they overlap."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.schemas import columns

Boxes = NDArray[np.float32]

BOX = [column.name for column in columns.BOX]


def intersection_over_union(boxes: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """The area that two boxes share divided by the area that they cover together, between 0 and 1.

    (..., 4) and (..., 4) to (...), broadcast: of (n, 4) and (n, 4), each box with the other in its row, (n,); of
    (n, 1, 4) and (1, m, 4), every box with every other, (n, m). Two boxes without area do not overlap.
    """
    begin = np.maximum(boxes[..., :2], others[..., :2])
    end = np.minimum(boxes[..., :2] + boxes[..., 2:], others[..., :2] + others[..., 2:])
    shared = np.clip(end - begin, 0, None).prod(axis=-1)
    union = boxes[..., 2:].prod(axis=-1) + others[..., 2:].prod(axis=-1) - shared
    ratio: NDArray[Any] = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return ratio
