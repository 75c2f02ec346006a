"""Memory that is used again for each tile: freed and taken anew, tiles would be scattered over the heap."""

import math

import torch
from torch import Tensor


class Buffer:
    """Memory for one intermediate result of a tile."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._numbers = torch.empty(0, dtype=dtype)

    def allocate(self, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """A tensor of this shape on this device, with any values, in the memory of the one before it if that fits."""
        count = math.prod(shape)
        if len(self._numbers) < count or self._numbers.device != device:
            self._numbers = torch.empty(count, dtype=self._numbers.dtype, device=device)
        return self._numbers[:count].view(shape)
