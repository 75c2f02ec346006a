"""Types of arrays."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]
