"""Scores many pairs, in bounded memory, with a function that compares a few; and groups pairs by one side.

A method that attends to an image's cells and a sentence's words at once must compare each pair. Its
`compare(images, sentences, image, sentence, longest)` gives the (P,) scores of pairs of the given rows, (P,) each, of
two encodings: named tuples of tensors that all begin with the image, or with the sentence. The longest of the pairs'
sentences has `longest` words. Rows and lengths are on the CPU, so that the host does not wait for a GPU.

Within `compare`, the pairs of an image (or sentence) stand together, so that its candidates meet all of them in one
matrix product (sm-LSTM, Eq 3).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from densevse.kernels.arrays import Integers, tensor_on_device

Compare: TypeAlias = Callable[[Any, Any, Tensor, Tensor, int], Tensor]


def scores_of_all_pairs(compare: Compare, images: Any, sentences: Any, lengths: Tensor, at_once: int) -> Tensor:
    """(I, S) scores of all pairs, computed in tiles of at most `at_once` pairs.

    `lengths` (S,) are the lengths of the sentences, on the CPU. Sentences of similar length share a tile, which saves
    padding.
    """
    by_length = lengths.argsort(stable=True)
    edge = math.isqrt(at_once)
    scores: Tensor = images[0].new_empty(len(images[0]), len(by_length))
    for chosen in by_length.split(edge):
        longest, columns = int(lengths[chosen].max()), chosen.to(scores.device, non_blocking=True)
        some_sentences = type(sentences)(*(part[columns] for part in sentences))
        for first in range(0, len(scores), edge):
            some_images = type(images)(*(part[first : first + edge] for part in images))
            pairs = torch.cartesian_prod(torch.arange(len(some_images[0])), torch.arange(len(columns)))
            found = compare(some_images, some_sentences, pairs[:, 0], pairs[:, 1], longest)
            scores[first : first + edge, columns] = found.view(-1, len(columns))
    return scores


def scores_of_pairs(
    compare: Compare,
    images: Any,
    sentences: Any,
    pairs: tuple[Tensor, Tensor],
    lengths: Tensor,
    weights: list[Tensor],
    at_once: int,
) -> Tensor:
    """(P,) scores by `compare(images, sentences, *pairs, longest)`, computed `at_once` pairs at a time.

    `pairs` are rows of `images` and `sentences`, (P,) each, and `lengths` (S,) are the sentences' lengths, all on the
    CPU. Activations exist only while their pairs are computed, so `at_once` bounds the memory. The gradient compares
    again only the pairs that the loss depends on: with hinges, most pairs cost nothing after some training. `weights`
    are the parameters that `compare` uses besides the encodings.
    """

    def compare_parts(parts: tuple[Tensor, ...], image: Tensor, sentence: Tensor) -> Tensor:
        of_images, of_sentences = parts[: len(images)], parts[len(images) :]
        longest = int(lengths[sentence].max())
        return compare(type(images)(*of_images), type(sentences)(*of_sentences), image, sentence, longest)

    encoded = len(images) + len(sentences)
    scores: Tensor = _PairScores.apply(compare_parts, pairs, at_once, encoded, *images, *sentences, *weights)
    return scores


class _PairScores(torch.autograd.Function):
    """The scores as an autograd function that saves only its inputs and compares again the pairs with a gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        compare: Callable[[tuple[Tensor, ...], Tensor, Tensor], Tensor],
        pairs: tuple[Tensor, Tensor],
        at_once: int,
        encoded: int,
        *given: Tensor,
    ) -> Tensor:
        ctx.compare, ctx.pairs, ctx.at_once, ctx.encoded = compare, pairs, at_once, encoded
        ctx.save_for_backward(*given)
        chunks = zip(*(rows.split(at_once) for rows in pairs), strict=True)
        return torch.cat([compare(given[:encoded], *chunk) for chunk in chunks])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (image, sentence), given = ctx.pairs, ctx.saved_tensors
        wanted = ctx.needs_input_grad[4:]
        # Encodings are detached; parameters are the leaves that `compare` itself uses.
        fresh = [
            tensor.detach().requires_grad_(needed) if place < ctx.encoded else tensor
            for place, (tensor, needed) in enumerate(zip(given, wanted, strict=True))
        ]
        leaves = [tensor for tensor, needed in zip(fresh, wanted, strict=True) if needed]
        totals: list[Tensor | None] = [None] * len(leaves)
        depended_on = (gradient != 0).cpu().nonzero().squeeze(1)  # the only line where a step waits for a GPU
        for rows in depended_on.split(ctx.at_once) if len(depended_on) else ():
            with torch.enable_grad():
                scores = ctx.compare(tuple(fresh[: ctx.encoded]), image[rows], sentence[rows])
            of_scores = gradient[rows.to(gradient.device, non_blocking=True)]
            found = torch.autograd.grad(scores, leaves, of_scores, allow_unused=True)
            totals = [_add_gradients(total, part) for total, part in zip(totals, found, strict=True)]
        remaining = iter(totals)
        return (*[None] * 4, *(next(remaining) if needed else None for needed in wanted))


def _add_gradients(total: Tensor | None, part: Tensor | None) -> Tensor | None:
    if total is None or part is None:
        return total if part is None else part
    return total + part


# --- pairs by their image ----------------------------------------------------------------------------------------


class Slots(NamedTuple):
    """Padded slots for the pairs of G images: each image has as many slots as the image with the most pairs needs."""

    images: Tensor | None  # (G,) the images that have pairs, ascending; None: the first G
    slot: Tensor | None  # (P,) the slot (below G * width) of the pair at each place; None: images have equally many
    width: int
    owners: int  # G

    def owner_values(self, values: Tensor) -> Tensor:
        """(G, ...) the values of the images that have pairs, from those of all images."""
        return values[: self.owners] if self.images is None else values.index_select(0, self.images)

    def pad_rows(self, rows: Tensor) -> Tensor:
        """Copies rows (P, ...) into their slots, (G, width, ...); empty slots are zero."""
        if self.slot is None:
            padded: Tensor = rows.unflatten(0, (self.owners, self.width))
            return padded
        empty = rows.new_zeros(self.owners * self.width, *rows.shape[1:])
        slots: Tensor = empty.index_copy_(0, self.slot, rows).unflatten(0, (-1, self.width))
        return slots

    def unpad_rows(self, slots: Tensor) -> Tensor:
        """The inverse of `pad_rows`: (G, width, ...) to (P, ...)."""
        rows = slots.flatten(0, 1)
        return rows if self.slot is None else rows.index_select(0, self.slot)


@dataclass(frozen=True)
class Grouped:
    """Pairs in the order of their image (or of their sentence), so that each one's pairs stand together."""

    order: Tensor  # (P,) the pair at each place
    place: Tensor  # (P,) the place of each pair
    owner: Tensor  # (P,) the image of the pair at each place, ascending
    runs: list[tuple[int, slice]]  # each image that has pairs, with their places
    in_order: bool = False  # every pair is at its place already

    @classmethod
    def from_owners(cls, owner: Tensor, device: torch.device | None = None) -> Self:
        """Groups pairs by their image (P,). The result's tensors are on `device`, by default the device of the images.

        The CPU computes the groups, so the host waits for images that are on another device.
        """
        rising, order = owner.cpu().sort(stable=True)
        in_order = bool((order[1:] > order[:-1]).all())
        distinct, counts = torch.unique_consecutive(rising, return_counts=True)
        places = [slice(*ends) for ends in pairwise(accumulate(counts.tolist(), initial=0))]
        order, place, rising = (
            part.to(device or owner.device, non_blocking=True) for part in (order, order.argsort(), rising)
        )
        return cls(order, place, rising, list(zip(distinct.tolist(), places, strict=True)), in_order)

    def arrange_rows(self, rows: Tensor) -> Tensor:
        """Rows (P, ...) of the pairs, in the order of their image."""
        return rows if self.in_order else _Permuted.apply(rows, self.order, self.place)

    def restore_rows(self, rows: Tensor) -> Tensor:
        """The inverse of `arrange_rows`."""
        return rows if self.in_order else _Permuted.apply(rows, self.place, self.order)

    def spread(self, values: Tensor) -> Tensor:
        """(P, ...) values of the pairs, in their given order, from the values (N, ...) of their images."""
        if not uses_slots(values):
            return select_rows(values, self.owner if self.in_order else self.owner.index_select(0, self.place))
        own = self.slots.owner_values(values).unsqueeze(1)
        return self.restore_rows(self.slots.unpad_rows(own.expand(-1, self.slots.width, *own.shape[2:])))

    @cached_property
    def slots(self) -> Slots:
        """The pairs in padded slots, so that a GPU multiplies all candidates with their pairs in one product."""
        owners, starts = self._owners_and_starts()
        counts = np.diff(starts)
        width = int(counts.max(initial=1))
        images = None if np.array_equal(owners, np.arange(len(owners))) else tensor_on_device(owners, self.owner.device)
        if (counts == width).all():
            return Slots(images, None, width, len(owners))
        first = np.arange(len(counts)) * width - starts[:-1]
        slot = np.repeat(first, counts) + np.arange(counts.sum())
        return Slots(images, tensor_on_device(slot, self.owner.device), width, len(owners))

    @cached_property
    def spans(self) -> tuple[Tensor, Tensor]:
        """The G images that have pairs, and the (G + 1,) places where those of each begin and the last one's end."""
        owners, starts = (tensor_on_device(part, self.owner.device) for part in self._owners_and_starts())
        return owners, starts

    def _owners_and_starts(self) -> tuple[Integers, Integers]:
        owners = np.array([owner for owner, _ in self.runs], np.int64)
        return owners, np.array([0, *(rows.stop for _, rows in self.runs)], np.int64)


class Pairing(NamedTuple):
    """Pairs of an image and a sentence, grouped by either."""

    by_image: Grouped
    by_sentence: Grouped

    @classmethod
    def from_rows(cls, image: Tensor, sentence: Tensor, device: torch.device) -> Self:
        """Groups pairs given by their rows, (P,) each, on the CPU; the result's tensors are on `device`."""
        return cls(Grouped.from_owners(image, device), Grouped.from_owners(sentence, device))


class _Permuted(torch.autograd.Function):
    """Rows in another order. The gradient has them in the first one, where that of an index would add them up."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(back)
        return rows.index_select(0, order)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return gradient.index_select(0, ctx.saved_tensors[0]), None, None


def select_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Rows of a matrix. The gradient of `embedding` is many times as fast as that of an index."""
    return functional.embedding(rows, x)


def weighted_sums(weights: Tensor, values: Tensor, pairs: Grouped) -> Tensor:
    """Eq 3 of sm-LSTM: (P, S) sums of the values (N, C, S) of each pair's image, weighted by (P, C).

    The weights are in the order of `pairs`.
    """
    if uses_slots(weights):
        with torch.autocast(weights.device.type, enabled=False):  # the product keeps its precision
            sums_in_slots = pairs.slots.pad_rows(weights) @ pairs.slots.owner_values(values)
        return pairs.slots.unpad_rows(sums_in_slots)
    sums: Tensor = _WeightedSums.apply(weights, values, pairs.runs)
    return sums


def uses_slots(x: Tensor) -> bool:
    """True if pairs are computed in padded slots. A GPU saves launches so; a CPU would waste time on padding."""
    return not x.is_cpu


class _WeightedSums(torch.autograd.Function):
    """The weighted sums as an autograd function, with one matrix product for each run of pairs."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, values: Tensor, runs: list[tuple[int, slice]]) -> Tensor:
        ctx.save_for_backward(weights, values)
        ctx.runs = runs
        sums = weights.new_empty(len(weights), values.shape[2])
        for some, candidates, out in _split_runs(runs, weights, values, sums):
            torch.mm(some, candidates, out=out)
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, values = ctx.saved_tensors
        of_weights, of_values = torch.empty_like(weights), torch.zeros_like(values)
        transposed = values.transpose(1, 2)
        for some, candidates, out in _split_runs(ctx.runs, gradient, transposed, of_weights):
            torch.mm(some, candidates, out=out)
        for some, out, others in _split_runs(ctx.runs, weights, of_values, gradient):
            torch.mm(some.T, others, out=out)
        return of_weights, of_values, None


def _split_runs(
    runs: list[tuple[int, slice]], of_pairs: Tensor, of_images: Tensor, others: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yields, for each image that has pairs, a view of its pairs, of its values, and of its pairs in the second tensor.

    All views are made at once: made one by one, they would take as long as the small products that use them.
    """
    sizes = [rows.stop - rows.start for _, rows in runs]
    own = of_images.unbind()
    return zip(of_pairs.split(sizes), (own[owner] for owner, _ in runs), others.split(sizes), strict=True)
