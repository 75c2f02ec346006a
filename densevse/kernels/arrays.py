"""Moves NumPy arrays, with which the CPU plans the order of a computation, to the device that computes."""

from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """The array as a tensor on `device`, copied without making the host wait for a GPU."""
    return torch.from_numpy(array).to(device, non_blocking=True)
