"""Additive attention of sm-LSTM over the candidates of one side, for many pairs of an image and a sentence at once.

What a candidate (a cell of an image, a word of a sentence) and its context give is computed once for each image or
sentence, and what the multimodal LSTM's state gives once for each pair.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from densevse.kernels.tanh_sums import Grouped, exponential, tanh_sums


class Candidates(NamedTuple):
    """The candidates of N images or of N sentences, as far as they do not depend on what these are compared with."""

    keys: Tensor  # (N, candidates, units) what attention knows of them
    values: Tensor  # (N, candidates, similarity) their projections into the space of local similarities
    present: Tensor  # (N, candidates) bool; a sentence's padding is not present
    weights: Tensor  # (N, candidates) their saliency at the first step, where no pair has a state yet
    attended: Tensor  # (N, similarity) what that saliency selects


class _Product(nn.Linear):
    """x W / sqrt(size of x) + b, where all of W begin as draws from the normal distribution of variance 1.

    With weights that are small from the beginning, as is usual, a step of Adam moves all terms of a sum at once, and
    the sum by more than 1. So tanh of Eq 2 became as good as constant on Flickr8k, and attention even.
    """

    def reset_parameters(self) -> None:
        nn.init.normal_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight * self.in_features**-0.5, self.bias)


class Attention(nn.Module):
    """f_p and f_q (Eq 2), repaired: w . tanh(m W_m + a W_a + h W_h + b).

    As printed, Eq 2 adds three sigmoids, of which only that of the candidate survives the softmax of Eq 1. With the
    nonlinearity after the sum, context and state change which candidates are salient. The bias outside, b_p, is left
    out: the softmax cancels it.
    """

    def __init__(self, candidate: int, context: int | None, hidden: int, units: int) -> None:
        """Sizes of a candidate, of the context (None: no context), of the state h and of the sum."""
        super().__init__()
        self.candidate = _Product(candidate, units)
        self.context = _Product(context, units, bias=False) if context is not None else None
        self.hidden = _Product(hidden, units, bias=False)
        self.weight = nn.Parameter(torch.empty(units).uniform_(-1, 1) * (3 / units) ** 0.5)

    def keys(self, candidates: Tensor, context: Tensor | None) -> Tensor:
        """(N, C, size) candidates and (N, size) contexts to (N, C, units): e^2x of what does not depend on a pair."""
        x: Tensor = self.candidate(candidates)
        return exponential(x if self.context is None else x + self.context(context).unsqueeze(1))

    def logits(self, keys: Tensor, hidden: Tensor, pairs: Grouped) -> Tensor:
        """(P, C) p-hat or q-hat of Eq 1; the pairs' states (P, H) stand in the order of `pairs`."""
        return tanh_sums(keys, exponential(self.hidden(hidden)), self.weight, pairs)


class PrintedAttention(nn.Module):
    """Eq 2 as printed: w . (sigmoid(m W_m + b_m) + sigmoid(a W_a + b_a) + sigmoid(h W_h + b_h)).

    After the softmax of Eq 1, neither the context nor the state makes a difference. It is there for comparison.
    """

    def __init__(self, candidate: int, context: int | None, hidden: int, units: int) -> None:
        """As `Attention`."""
        super().__init__()
        self.candidate = nn.Linear(candidate, units)
        self.context = nn.Linear(context, units) if context is not None else None
        self.hidden = nn.Linear(hidden, units)
        self.weight = nn.Parameter(torch.empty(units).uniform_(-1, 1) * (3 / units) ** 0.5)

    def keys(self, candidates: Tensor, context: Tensor | None) -> Tensor:
        """(N, C, size) candidates and (N, size) contexts to (N, C, 1): what they add to the logits."""
        x: Tensor = self.candidate(candidates).sigmoid() @ self.weight
        if self.context is not None:
            x = x + (self.context(context).sigmoid() @ self.weight).unsqueeze(1)
        return x.unsqueeze(2)

    def logits(self, keys: Tensor, hidden: Tensor, pairs: Grouped) -> Tensor:
        """(P, C) p-hat or q-hat of Eq 1; the pairs' states (P, H) stand in the order of `pairs`."""
        of_state: Tensor = self.hidden(hidden).sigmoid() @ self.weight
        return rows_of(keys.squeeze(2), pairs.owner) + of_state.unsqueeze(1)


class Side(nn.Module):
    """One side of the attention scheme (Figure 2 b): saliency over candidates, and what it selects (Eq 1-3)."""

    def __init__(self, size: int, similarity: int, attention: Attention | PrintedAttention | None) -> None:
        """Candidates of length `size`; without attention there is one for each image or sentence."""
        super().__init__()
        self.attention = attention
        self.projection = nn.Linear(size, similarity)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)

    def encode(self, candidates: Tensor, present: Tensor, context: Tensor | None) -> Candidates:
        """Of (N, C, size) candidates and (N, E) contexts, all that no pair changes, the first step included.

        Values are projected before they are summed: the sum of projections is the projection of Eq 3's sum.
        """
        values = self.projection(candidates)
        if self.attention is None:
            return Candidates(values[:, :, :0], values, present, present.to(values.dtype), values[:, 0])
        keys = self.attention.keys(candidates, context)
        values = values.to(keys.dtype)  # under autocast, projections are of half precision
        alone = Grouped.by(torch.arange(len(keys), device=keys.device))
        no_state = keys.new_zeros(len(keys), self.attention.hidden.in_features)
        weights, attended = self._select(keys, values, present, no_state, alone)
        return Candidates(keys, values, present, weights, attended)

    def attend(self, candidates: Candidates, hidden: Tensor, pairs: Grouped) -> tuple[Tensor, Tensor]:
        """(P, C) saliency and (P, similarity) a'_t or w'_t of pairs whose state is (P, H)."""
        keys, values, present, _, _ = candidates
        weights, attended = self._select(keys, values, present, rows_of(hidden, pairs.order), pairs)
        return rows_of(weights, pairs.place), rows_of(attended, pairs.place)

    def _select(
        self, keys: Tensor, values: Tensor, present: Tensor, hidden: Tensor, pairs: Grouped
    ) -> tuple[Tensor, Tensor]:
        assert self.attention is not None
        logits = self.attention.logits(keys, hidden, pairs)
        weights = logits.masked_fill(~present[pairs.owner], -torch.inf).softmax(dim=1)  # Eq 1
        attended: Tensor = _WeightedSums.apply(weights, values, pairs.runs)  # type: ignore[no-untyped-call]
        return weights, attended


def rows_of(x: Tensor, rows: Tensor) -> Tensor:
    """The rows of a matrix; the gradient of `embedding` is many times as fast as that of an index."""
    return functional.embedding(rows, x)


class _WeightedSums(torch.autograd.Function):
    """Eq 3: (P, C) weights of the values (N, C, S) of each pair's image or sentence, to (P, S)."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, values: Tensor, runs: list[tuple[int, slice]]) -> Tensor:
        ctx.save_for_backward(weights, values)
        ctx.runs = runs
        sums = weights.new_empty(len(weights), values.shape[2])
        for owner, rows in runs:
            torch.mm(weights[rows], values[owner], out=sums[rows])
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, values = ctx.saved_tensors
        of_weights, of_values = torch.empty_like(weights), torch.zeros_like(values)
        for owner, rows in ctx.runs:
            torch.mm(gradient[rows], values[owner].T, out=of_weights[rows])
            torch.mm(weights[rows].T, gradient[rows], out=of_values[owner])
        return of_weights, of_values, None
