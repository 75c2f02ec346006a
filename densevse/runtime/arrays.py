"""Arrays: the types of indices and numbers, some indices of an array, and tensors as arrays."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]


def spaced_indices(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of the numbers below `count`, evenly spaced from the first to the last."""
    return np.linspace(0, count - 1, min(most, count)).astype(np.int64)


def run_starts(values: NDArray[Any]) -> Indices:
    """The place of the first of each run of equal values."""
    return np.flatnonzero(np.concatenate((np.ones(min(1, len(values)), bool), values[1:] != values[:-1])))


def as_array(values: Any) -> NDArray[Any]:
    """An array, or a tensor of torch on any device, as an array; bfloat16, which NumPy lacks, as float32."""
    if not hasattr(values, "detach"):
        return np.asanyarray(values)
    tensor = values.detach().cpu()
    found: NDArray[Any] = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return found
