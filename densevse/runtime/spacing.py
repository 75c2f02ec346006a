"""Which of many things are looked at: some that are evenly spaced, so that nobody chose them by their looks."""

import numpy as np
from numpy.typing import NDArray


def evenly_spaced(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of the numbers below `count`, from the first to the last."""
    return np.linspace(0, count - 1, min(most, count)).astype(np.int64)
