"""Arrays of indices: their type, and numbers that are spread evenly over a range."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]


def evenly_spaced(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of the numbers below `count`, evenly spaced from the first to the last."""
    return np.linspace(0, count - 1, min(most, count)).astype(np.int64)
