"""Arrays that stay on the CPU, where the order of a computation is planned, and their way to where it is computed."""

from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """The array as a tensor on `device`; the host does not wait until a GPU has it."""
    return torch.from_numpy(array).to(device, non_blocking=True)
