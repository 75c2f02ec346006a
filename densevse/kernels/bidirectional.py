"""A bidirectional LSTM over the words of a batch of sentences (Schuster and Paliwal 1997)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from densevse.kernels.recurrent import Prefixes, Recurrent, prefixes
from densevse.methods.structures import Words


class Bidirectional(nn.Module):
    """Both directions' hidden states at every word, side by side.

    Each direction is a `Recurrent`, so that the beginnings that sentences share, and for the backward direction their
    endings, are computed once.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forwards, self.backwards = (Recurrent("lstm", inputs, hidden) for _ in range(2))

    def forward(self, vectors: Tensor, words: Words, tree: Prefixes) -> Tensor:
        """(S, longest, 2 * hidden) states, zero at padding.

        `tree` is `prefixes(words)`, and `vectors` (U, inputs) are those of its distinct words.
        """
        lengths, width, device = words.lengths, words.index.shape[1], words.index.device
        turned = prefixes(_turned(words))
        from_last = (lengths.unsqueeze(1) - 1 - torch.arange(width, device=device)).clamp(min=0)
        states = (
            embedding(tree.of_words(lengths, width), self.forwards.states(vectors, tree)),
            embedding(turned.of_words(lengths, width).gather(1, from_last), self.backwards.states(vectors, turned)),
        )
        return torch.cat(states, dim=2).masked_fill((words.index == 0).unsqueeze(2), 0)


def _turned(words: Words) -> Words:
    """The same sentences, their words from last to first."""
    index = words.on_host()
    lengths = (index != 0).sum(axis=1, keepdims=True)
    place = lengths - 1 - np.arange(index.shape[1])
    turned = np.where(place >= 0, np.take_along_axis(index, place.clip(min=0), axis=1), 0)
    return Words(torch.from_numpy(turned).to(words.index.device), words.lengths, turned)
