"""Additive attention of sm-LSTM over the instances of one side, for many pairs of an image and a sentence at once.

Instances are the cells a_i of an image, with its context m, and the words w_j of a sentence, with its context n. With
h the state of the multimodal LSTM after the step before:

    p_t,i = e^p^_t,i / sum_i e^p^_t,i,    p^_t,i = f_p(m, a_i, h_t-1),    and q_t,j by f_q(n, w_j, h_t-1)      (1)
    f_p(m, a_i, h_t-1) = w_p (sigmoid(m W_m + b_m) + sigmoid(a_i W_a + b_a) + sigmoid(h_t-1 W_h + b_h)) + b_p   (2)
    a'_t = sum_i p_t,i a_i,    w'_t = sum_j q_t,j w_j                                                           (3)

The terms of a candidate (a cell of an image, a word of a sentence) and of its context are computed once for each image
or sentence. The term of the multimodal LSTM's state is computed once for each pair.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.grouped import Grouped, rows_of, weighted_sums
from densevse.kernels.tanh_sums import exponential, tanh_sums
from densevse.methods.linear import xavier_linear


class Instances(NamedTuple):
    """The candidates of N images or N sentences, with everything that is computed once for all their pairs."""

    keys: Tensor  # (N, candidates, units) their attention keys
    values: Tensor  # (N, candidates, similarity) their projections into the space of local similarities
    present: Tensor  # (N, candidates) bool; a sentence's padding is not present
    weights: Tensor  # (N, candidates) their saliency at the first step, where no pair has a state yet
    attended: Tensor  # (N, similarity) what that saliency selects
    vectors: Tensor  # (N, E) their contexts at unit norm, whose cosine counts; (N, 0) in a score without a cosine


class _Product(nn.Linear):
    """A linear map x W / sqrt(size of x) + b, where W starts as draws from the standard normal distribution.

    With the usual small initial weights, one step of Adam moves all terms of a sum at once, and the sum by more than 1.
    On Flickr8k this saturated the tanh of Eq 2, and attention became uniform.
    """

    def reset_parameters(self) -> None:
        """Draws W from the standard normal distribution and sets b to 0."""
        nn.init.normal_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) to (..., outputs)."""
        return functional.linear(x, self.weight * self.in_features**-0.5, self.bias)


class Attention(nn.Module):
    """f_p and f_q (Eq 2), repaired: w . tanh(m W_m + a W_a + h W_h + b).

    As printed, Eq 2 adds three sigmoids, and the softmax of Eq 1 cancels those of the context and the state. Here the
    nonlinearity comes after the sum, so context and state change which candidates are salient. The outer bias b_p is
    left out, as the softmax cancels it.
    """

    def __init__(self, candidate: int, context: int | None, hidden: int, units: int) -> None:
        """Takes the sizes of a candidate, of the context (None: no context), of the state h and of the sum."""
        super().__init__()
        self.candidate = _Product(candidate, units)
        self.context = _Product(context, units, bias=False) if context is not None else None
        self.hidden = _Product(hidden, units, bias=False)
        self.weight = nn.Parameter(torch.empty(units).uniform_(-1, 1) * (3 / units) ** 0.5)

    def keys(self, candidates: Tensor, context: Tensor | None) -> Tensor:
        """(N, C, units) keys e^2x of (N, C, size) candidates and (N, size) contexts, the terms that no pair changes."""
        x: Tensor = self.candidate(candidates)
        return exponential(x if self.context is None else x + self.context(context).unsqueeze(1))

    def logits(self, keys: Tensor, hidden: Tensor, pairs: Grouped) -> Tensor:
        """(P, C) p-hat or q-hat of Eq 1; the pairs' states (P, H) are in the order of `pairs`."""
        return tanh_sums(keys, exponential(self.hidden(hidden)), self.weight, pairs)


class PrintedAttention(nn.Module):
    """Eq 2 as printed: w . (sigmoid(m W_m + b_m) + sigmoid(a W_a + b_a) + sigmoid(h W_h + b_h)).

    The softmax of Eq 1 cancels the terms of context and state. It exists for comparison with `Attention`.
    """

    def __init__(self, candidate: int, context: int | None, hidden: int, units: int) -> None:
        """Takes the same arguments as `Attention`."""
        super().__init__()
        self.candidate = nn.Linear(candidate, units)
        self.context = nn.Linear(context, units) if context is not None else None
        self.hidden = nn.Linear(hidden, units)
        self.weight = nn.Parameter(torch.empty(units).uniform_(-1, 1) * (3 / units) ** 0.5)

    def keys(self, candidates: Tensor, context: Tensor | None) -> Tensor:
        """(N, C, 1) logits of (N, C, size) candidates; the (N, size) contexts add a constant."""
        x: Tensor = self.candidate(candidates).sigmoid() @ self.weight
        if self.context is not None:
            x = x + (self.context(context).sigmoid() @ self.weight).unsqueeze(1)
        return x.unsqueeze(2)

    def logits(self, keys: Tensor, hidden: Tensor, pairs: Grouped) -> Tensor:
        """(P, C) p-hat or q-hat of Eq 1; the pairs' states (P, H) are in the order of `pairs`."""
        of_state: Tensor = self.hidden(hidden).sigmoid() @ self.weight
        return rows_of(keys.squeeze(2), pairs.owner) + of_state.unsqueeze(1)


class Selection(nn.Module):
    """One side of the attention scheme (Figure 2 b): the saliency of candidates and their weighted sum (Eq 1-3)."""

    def __init__(
        self, size: int, similarity: int, attention: Attention | PrintedAttention | None, context: int | None = None
    ) -> None:
        """Candidates of length `size`; without attention there is one for each image or sentence.

        `context` is the length of the context that joins what is selected (ours), None without one.
        """
        super().__init__()
        self.attention = attention
        self.projection = xavier_linear(size, similarity)
        self.context = xavier_linear(context, similarity) if context is not None else None

    def encode(self, candidates: Tensor, present: Tensor, context: Tensor | None) -> Instances:
        """Computes all that no pair changes, first step included, from (N, C, size) candidates and (N, E) contexts.

        Values are projected before they are summed, which is equal to projecting the sum of Eq 3. A context joins the
        sum if it joins each value, as the weights of Eq 1 sum to 1.
        """
        values = self.projection(candidates)
        no_vectors = values[:, 0, :0]
        if self.context is not None:
            values = values + self.context(context).unsqueeze(1)
        if self.attention is None:
            return Instances(values[:, :, :0], values, present, present.to(values.dtype), values[:, 0], no_vectors)
        keys = self.attention.keys(candidates, context)
        values = values.to(keys.dtype)  # under autocast, projections are of half precision
        alone = Grouped.by(torch.arange(len(keys)), keys.device)
        no_state = keys.new_zeros(len(keys), self.attention.hidden.in_features)
        weights, attended = self._select(keys, values, present, no_state, alone)
        return Instances(keys, values, present, weights, attended, no_vectors)

    def attend(self, candidates: Instances, hidden: Tensor, pairs: Grouped) -> tuple[Tensor, Tensor]:
        """(P, C) saliency and (P, similarity) a'_t or w'_t of pairs whose state is (P, H)."""
        of_places = rows_of(hidden, pairs.order)
        weights, attended = self._select(candidates.keys, candidates.values, candidates.present, of_places, pairs)
        return rows_of(weights, pairs.place), rows_of(attended, pairs.place)

    def _select(
        self, keys: Tensor, values: Tensor, present: Tensor, hidden: Tensor, pairs: Grouped
    ) -> tuple[Tensor, Tensor]:
        """(P, C) saliency and (P, similarity) weighted sums, given the pairs' states (P, H) in the order of `pairs`."""
        assert self.attention is not None
        logits = self.attention.logits(keys, hidden, pairs)
        weights = logits.masked_fill(~present[pairs.owner], -torch.inf).softmax(dim=1)  # Eq 1
        return weights, weighted_sums(weights, values, pairs)  # Eq 3
