"""A bidirectional LSTM or GRU over the words of a batch of sentences (Schuster and Paliwal 1997)."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from densevse.kernels.arrays import Integers
from densevse.kernels.recurrent import Prefixes, Recurrent, prefixes, states_by_library, uses_library


class Turned(NamedTuple):
    """The plan of the backward direction over a batch of sentences."""

    padding: Tensor  # (S, longest, 1) bool: true where there is no word
    tree: Prefixes | None  # of the sentences in reverse order; none where a library reads them itself


def plan_backward(table: Integers, device: torch.device) -> Turned:
    """Plans the backward direction on `device`; the result's tensors are on the CPU.

    `table` (S, longest) has the sentences' words, padded with 0. In the result's tree, `ends` has the prefix in reverse
    order that ends with each word as the sentences stand.
    """
    padding = torch.from_numpy(table == 0).unsqueeze(2)
    if uses_library(device):
        return Turned(padding, None)
    from_last = (table != 0).sum(axis=1, keepdims=True) - 1 - np.arange(table.shape[1])
    from_first = from_last.clip(min=0)
    tree = prefixes(np.where(from_last >= 0, np.take_along_axis(table, from_first, axis=1), 0), device)
    return Turned(padding, replace(tree, ends=tree.ends.gather(1, torch.from_numpy(from_first))))


class Bidirectional(nn.Module):
    """An LSTM or GRU in both directions; returns both hidden states at every word, side by side.

    Each direction is a `Recurrent`, so that the beginnings that sentences share, and for the backward direction their
    endings, are computed once.
    """

    def __init__(self, kind: str, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forwards, self.backwards = (Recurrent(kind, inputs, hidden) for _ in range(2))

    def forward(self, vectors: Tensor, tree: Prefixes, turned: Turned) -> Tensor:
        """(S, longest, 2 * hidden) states, zero at padding.

        `tree` is `prefixes` of the sentences, and `vectors` (U, inputs) are those of its distinct words.
        """
        if turned.tree is None:
            both = embedding(tree.ends, states_by_library([self.forwards, self.backwards], vectors, tree))
        else:
            of_forwards = embedding(tree.ends, self.forwards.states(vectors, tree))
            of_backwards = embedding(turned.tree.ends, self.backwards.states(vectors, turned.tree))
            both = torch.cat((of_forwards, of_backwards), dim=2)
        return both.masked_fill(turned.padding, 0)
