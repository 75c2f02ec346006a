"""Chooses evenly spaced examples among many, so that nobody picks them by their looks."""

import numpy as np
from numpy.typing import NDArray


def evenly_spaced(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of the numbers below `count`, evenly spaced from the first to the last."""
    return np.linspace(0, count - 1, min(most, count)).astype(np.int64)
