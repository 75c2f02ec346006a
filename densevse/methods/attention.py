"""Additive attention of sm-LSTM over the instances of one side, for many pairs of an image and a sentence at once.

Instances are the cells a_i of an image, with its context m, and the words w_j of a sentence, with its context n. With
h the state of the multimodal LSTM after the step before:

    p_t,i = e^p^_t,i / sum_i e^p^_t,i,    p^_t,i = f_p(m, a_i, h_t-1),    and q_t,j by f_q(n, w_j, h_t-1)      (1)
    f_p(m, a_i, h_t-1) = w_p (sigmoid(m W_m + b_m) + sigmoid(a_i W_a + b_a) + sigmoid(h_t-1 W_h + b_h)) + b_p   (2)
    a'_t = sum_i p_t,i a_i,    w'_t = sum_j q_t,j w_j                                                           (3)

What a candidate (a cell of an image, a word of a sentence) and its context give is computed once for each image or
sentence, and what the multimodal LSTM's state gives once for each pair.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.grouped import Grouped, rows_of, weighted_sums
from densevse.kernels.tanh_sums import exponential, tanh_sums


class Instances(NamedTuple):
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
        """Draw W, and begin with b = 0."""
        nn.init.normal_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) to (..., outputs)."""
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


class Selection(nn.Module):
    """One side of the attention scheme (Figure 2 b): saliency over candidates, and what it selects (Eq 1-3)."""

    def __init__(self, size: int, similarity: int, attention: Attention | PrintedAttention | None) -> None:
        """Candidates of length `size`; without attention there is one for each image or sentence."""
        super().__init__()
        self.attention = attention
        self.projection = nn.Linear(size, similarity)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)

    def encode(self, candidates: Tensor, present: Tensor, context: Tensor | None) -> Instances:
        """Of (N, C, size) candidates and (N, E) contexts, all that no pair changes, the first step included.

        Values are projected before they are summed: the sum of projections is the projection of Eq 3's sum.
        """
        values = self.projection(candidates)
        if self.attention is None:
            return Instances(values[:, :, :0], values, present, present.to(values.dtype), values[:, 0])
        keys = self.attention.keys(candidates, context)
        values = values.to(keys.dtype)  # under autocast, projections are of half precision
        alone = Grouped.by(torch.arange(len(keys)), keys.device)
        no_state = keys.new_zeros(len(keys), self.attention.hidden.in_features)
        weights, attended = self._select(keys, values, present, no_state, alone)
        return Instances(keys, values, present, weights, attended)

    def attend(self, candidates: Instances, hidden: Tensor, pairs: Grouped) -> tuple[Tensor, Tensor]:
        """(P, C) saliency and (P, similarity) a'_t or w'_t of pairs whose state is (P, H)."""
        of_places = rows_of(hidden, pairs.order)
        weights, attended = self._select(candidates.keys, candidates.values, candidates.present, of_places, pairs)
        return rows_of(weights, pairs.place), rows_of(attended, pairs.place)

    def _select(
        self, keys: Tensor, values: Tensor, present: Tensor, hidden: Tensor, pairs: Grouped
    ) -> tuple[Tensor, Tensor]:
        """(P, C) saliency and (P, similarity) what it selects, of the pairs' states (P, H) in the order of `pairs`."""
        assert self.attention is not None
        logits = self.attention.logits(keys, hidden, pairs)
        weights = logits.masked_fill(~present[pairs.owner], -torch.inf).softmax(dim=1)  # Eq 1
        return weights, weighted_sums(weights, values, pairs)  # Eq 3
