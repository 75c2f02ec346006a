"""Ranks and the best candidates of scores that are torch tensors of float32, on their device.

`densevse.evaluation.in_numpy` has the same of arrays: scores of a GPU would take longer to copy than to rank there.
"""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.evaluation.tiles import Comparison
from densevse.runtime.arrays import Indices

LOW_31_BITS, LOW_32_BITS = (1 << 31) - 1, (1 << 32) - 1


class Buffer:
    """Keeps memory for one result of a tile. The next tile uses it again, so the heap stays in one piece."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._numbers = torch.empty(0, dtype=dtype)

    def allocate(self, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """A tensor of this shape on this device, with any values, in the memory of the one before it if that fits."""
        count = math.prod(shape)
        if len(self._numbers) < count or self._numbers.device != device:
            self._numbers = torch.empty(count, dtype=self._numbers.dtype, device=device)
        return self._numbers[:count].view(shape)


class TensorOperations:
    """The operations of `RankCounter` on tensors."""

    def __init__(self) -> None:
        # A comparison that gives floats is vectorised when summed; one that gives booleans is not.
        self._compared = Buffer(torch.float32)

    def put(self, values: NDArray[Any], scores: Tensor) -> Tensor:
        """The values where these scores are."""
        return torch.from_numpy(values).to(scores.device)

    def raise_to(self, scores: Tensor, index: Tensor, new: Tensor) -> None:
        """Raises the scores at some places to new ones that are higher."""
        scores.scatter_reduce_(0, index, new, "amax")

    def add_at(self, counts: Tensor, index: Tensor, holds: Tensor, number: int) -> None:
        """Adds a number to the counts at those of the places where something `holds`."""
        counts.index_add_(0, index, holds.long(), alpha=number)

    def count(self, comparison: Comparison, scores: Tensor, others: Tensor, axis: int) -> Tensor:
        """The number of scores of each row or column, along `axis`, that compare so with others."""
        found = self._compared.allocate(scores.shape, scores.device)
        getattr(torch, comparison)(scores, others, out=found)
        return found.sum(dim=axis).long()


class TopCandidatesOfTensors:
    """The `top` best candidates of each query, from tiles in any order; equal scores keep the candidates' order.

    Score and candidate form one integer, with the score's bits above the candidate's. So no two are equal, and the
    largest do not depend on the tiles. They stay on the scores' device until `top_candidates` is called.
    """

    def __init__(self, queries: int, candidates: int, top: int) -> None:
        self._keys = torch.full((queries, min(top, candidates)), torch.iinfo(torch.long).min)
        self._bits, self._both = Buffer(torch.int32), Buffer(torch.long)

    def add(self, queries: slice, candidates: slice, scores: Tensor) -> None:
        """Adds the `scores` (queries, candidates) of consecutive queries with consecutive candidates."""
        self._keys = self._keys.to(scores.device)
        top = self._keys.shape[1]
        both = self._both.allocate((len(scores), top + scores.shape[1]), scores.device)
        rising = self._sortable_bits(scores, both.view(torch.int32)[:, : scores.shape[1]])  # `both` holds nothing yet
        both[:, :top] = self._keys[queries]
        keys = both[:, top:].copy_(rising).bitwise_left_shift_(32)
        keys += LOW_32_BITS - torch.arange(candidates.start, candidates.stop, device=scores.device)
        self._keys[queries] = both.topk(top, dim=1).values

    def _sortable_bits(self, scores: Tensor, signs: Tensor) -> Tensor:
        """The scores' bits as integers that rise with the scores; `signs` is memory of their shape, int32."""
        bits = self._bits.allocate(scores.shape, scores.device)
        torch.add(scores, 0.0, out=bits.view(torch.float32))  # turns -0.0 into 0.0
        torch.bitwise_right_shift(bits, 31, out=signs)  # all bits are 1 if the score is negative, else 0
        return bits.bitwise_xor_(signs.bitwise_and_(LOW_31_BITS))

    def top_candidates(self) -> tuple[Indices, NDArray[np.float32]]:
        """Candidates and scores, best first: both (queries, at most `top`)."""
        keys = self._keys.cpu()
        rising = (keys >> 32).int()
        bits = torch.where(rising < 0, rising ^ LOW_31_BITS, rising)
        return (LOW_32_BITS - (keys & LOW_32_BITS)).numpy(), bits.view(torch.float32).numpy()
