"""Groups pairs by their image (or sentence), and sums over the candidates of that side (sm-LSTM, Eq 3).

The pairs of an image stand together, so that its candidates meet all of them in one matrix product.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from densevse.kernels.arrays import on_device


class Slots(NamedTuple):
    """Padded slots for the pairs of G images: each image has as many slots as the image with the most pairs needs."""

    images: Tensor  # (G,) the images that have pairs, ascending
    slot: Tensor  # (P,) the slot (below G * width) of the pair at each place
    width: int

    def filled(self, rows: Tensor) -> Tensor:
        """Copies rows (P, ...) into their slots, (G, width, ...); empty slots are zero."""
        empty = rows.new_zeros(len(self.images) * self.width, *rows.shape[1:])
        slots: Tensor = empty.index_copy_(0, self.slot, rows).unflatten(0, (-1, self.width))
        return slots

    def taken(self, slots: Tensor) -> Tensor:
        """The inverse of `filled`: (G, width, ...) to (P, ...)."""
        return slots.flatten(0, 1).index_select(0, self.slot)


@dataclass(frozen=True)
class Grouped:
    """Pairs in the order of their image (or of their sentence), so that each one's pairs stand together."""

    order: Tensor  # (P,) the pair at each place
    place: Tensor  # (P,) the place of each pair
    owner: Tensor  # (P,) the image of the pair at each place, ascending
    runs: list[tuple[int, slice]]  # each image that has pairs, with their places

    @classmethod
    def by(cls, owner: Tensor, device: torch.device | None = None) -> Self:
        """Groups pairs by their image (P,). The result's tensors are on `device`, by default the device of the images.

        The CPU computes the groups, so the host waits for images that are on another device.
        """
        rising, order = owner.cpu().sort(stable=True)
        distinct, counts = torch.unique_consecutive(rising, return_counts=True)
        places = [slice(*ends) for ends in pairwise(accumulate(counts.tolist(), initial=0))]
        order, place, rising = (
            part.to(device or owner.device, non_blocking=True) for part in (order, order.argsort(), rising)
        )
        return cls(order, place, rising, list(zip(distinct.tolist(), places, strict=True)))

    @cached_property
    def slots(self) -> Slots:
        """The pairs in padded slots, so that a GPU multiplies all candidates with their pairs in one product."""
        counts = np.array([rows.stop - rows.start for _, rows in self.runs])
        width = int(counts.max(initial=1))
        first = np.arange(len(counts)) * width - np.array([rows.start for _, rows in self.runs], np.int64)
        images = np.array([image for image, _ in self.runs], np.int64)
        slot = np.repeat(first, counts) + np.arange(counts.sum())
        return Slots(on_device(images, self.owner.device), on_device(slot, self.owner.device), width)


def rows_of(x: Tensor, rows: Tensor) -> Tensor:
    """Rows of a matrix. The gradient of `embedding` is many times as fast as that of an index."""
    return functional.embedding(rows, x)


def weighted_sums(weights: Tensor, values: Tensor, pairs: Grouped) -> Tensor:
    """Eq 3 of sm-LSTM: (P, S) sums of the values (N, C, S) of each pair's image, weighted by (P, C).

    The weights are in the order of `pairs`.
    """
    if in_slots(weights):
        with torch.autocast(weights.device.type, enabled=False):  # the product keeps its precision
            sums_in_slots = pairs.slots.filled(weights) @ values.index_select(0, pairs.slots.images)
        return pairs.slots.taken(sums_in_slots)
    sums: Tensor = _WeightedSums.apply(weights, values, pairs.runs)  # type: ignore[no-untyped-call]
    return sums


def in_slots(x: Tensor) -> bool:
    """True if a device computes pairs in slots. A GPU saves launches so; a CPU would waste time on padding."""
    return not x.is_cpu


class _WeightedSums(torch.autograd.Function):
    """The weighted sums as an autograd function, with one matrix product for each run of pairs."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, values: Tensor, runs: list[tuple[int, slice]]) -> Tensor:
        ctx.save_for_backward(weights, values)
        ctx.runs = runs
        sums = weights.new_empty(len(weights), values.shape[2])
        for some, candidates, out in _by_run(runs, weights, values, sums):
            torch.mm(some, candidates, out=out)
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, values = ctx.saved_tensors
        of_weights, of_values = torch.empty_like(weights), torch.zeros_like(values)
        transposed = values.transpose(1, 2)
        for some, candidates, out in _by_run(ctx.runs, gradient, transposed, of_weights):
            torch.mm(some, candidates, out=out)
        for some, out, others in _by_run(ctx.runs, weights, of_values, gradient):
            torch.mm(some.T, others, out=out)
        return of_weights, of_values, None


def _by_run(
    runs: list[tuple[int, slice]], of_pairs: Tensor, of_images: Tensor, others: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yields, for each image that has pairs, a view of its pairs, of its values, and of its pairs in the second tensor.

    All views are made at once: made one by one, they would take as long as the small products that use them.
    """
    sizes = [rows.stop - rows.start for _, rows in runs]
    own = of_images.unbind()
    return zip(of_pairs.split(sizes), (own[owner] for owner, _ in runs), others.split(sizes), strict=True)
