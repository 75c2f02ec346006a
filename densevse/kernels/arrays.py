"""Arrays and tensors as kernels take them: the CPU's plans on the device that computes, and numbers in float32."""

from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]


def tensor_on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """The array as a tensor on `device`, copied without making the host wait for a GPU."""
    return torch.from_numpy(array).to(device, non_blocking=True)


def to_float32(x: Tensor) -> Tensor:
    """A tensor of half precision, as under autocast, in float32; any other tensor as it is."""
    return x.float() if x.is_floating_point() and x.itemsize < 4 else x
