"""Types of the arrays that stay on the CPU, where the order of a computation is planned."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
