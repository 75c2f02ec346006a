"""Masks as run lengths: numbers of pixels alternately outside and inside, column by column.

It is the uncompressed form of MS-COCO's masks: the first run is outside, and may be empty.
"""

import numpy as np
from numpy.typing import NDArray

Runs = NDArray[np.int32]


def encode(mask: NDArray[np.bool_]) -> Runs:
    """The runs of a mask (H, W)."""
    flat = mask.ravel(order="F")
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    begins = [0, 0] if flat[0] else [0]
    return np.diff([*begins, *changes, flat.size]).astype(np.int32)


def decode(runs: Runs, height: int, width: int) -> NDArray[np.bool_]:
    """The mask (height, width) of runs that cover it. Raises `ValueError` if they do not."""
    inside = np.arange(len(runs)) % 2 == 1
    return np.repeat(inside, runs).reshape((height, width), order="F")
