"""A bidirectional LSTM or GRU over the words of a batch of sentences (Schuster and Paliwal 1997)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from densevse.kernels.arrays import Integers
from densevse.kernels.recurrent import Prefixes, Recurrent, by_library, prefixes, states_by_library


class Bidirectional(nn.Module):
    """An LSTM or GRU in both directions; returns both hidden states at every word, side by side.

    Each direction is a `Recurrent`, so that the beginnings that sentences share, and for the backward direction their
    endings, are computed once.
    """

    def __init__(self, kind: str, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forwards, self.backwards = (Recurrent(kind, inputs, hidden) for _ in range(2))

    def forward(self, vectors: Tensor, table: Integers, lengths: Tensor, tree: Prefixes) -> Tensor:
        """(S, longest, 2 * hidden) states, zero at padding.

        `table` (S, longest) has the sentences' words, padded with 0, and `lengths` (S,) how many each has. `tree` is
        `prefixes` of the table, and `vectors` (U, inputs) are those of its distinct words.
        """
        width, device = table.shape[1], lengths.device
        from_last = lengths.unsqueeze(1) - 1 - torch.arange(width, device=device)
        padding, from_last = (from_last < 0).unsqueeze(2), from_last.clamp(min=0)
        if by_library(device):
            both = states_by_library([self.forwards, self.backwards], vectors, tree)
            return embedding(tree.ends, both).masked_fill(padding, 0)
        turned = prefixes(_turned(table), device)
        states = (
            embedding(tree.ends, self.forwards.states(vectors, tree)),
            embedding(turned.ends.gather(1, from_last), self.backwards.states(vectors, turned)),
        )
        return torch.cat(states, dim=2).masked_fill(padding, 0)


def _turned(table: Integers) -> Integers:
    """The same sentences with their words in reverse order."""
    lengths = (table != 0).sum(axis=1, keepdims=True)
    place = lengths - 1 - np.arange(table.shape[1])
    return np.where(place >= 0, np.take_along_axis(table, place.clip(min=0), axis=1), 0)
