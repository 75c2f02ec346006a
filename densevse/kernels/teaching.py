"""Arranges sentences for an LSTM that predicts them: all sentences advance together, and none is padded."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from densevse.kernels.arrays import Integers, on_device
from densevse.kernels.recurrent import Prefixes, chains

END = 0  # padding in a table of words; as an input it is the sentence's start, as a target its end


@dataclass(frozen=True)
class Teaching:
    """Inputs and targets of a decoder: at each step it reads the word before and predicts the word itself."""

    tree: Prefixes  # of the inputs
    target: Tensor  # (P,) the word that follows each prefix
    sentence: Tensor  # (P,) the row of the sentence that each prefix begins


def teaching(words: Integers, read: Integers, device: torch.device) -> Teaching:
    """Arranges sentences for a decoder; the result's tensors are on `device`.

    `words` (S, longest), padded with 0, and the end are the targets. `read` (S, longest) are the inputs of all
    predictions but the first: the same words, or those that scheduled sampling drew.
    """
    steps = (words != END).sum(axis=1) + 1
    begun = np.pad(read, ((0, 0), (1, 0)), constant_values=END)
    ended = np.pad(words, ((0, 0), (0, 1)), constant_values=END)
    order = np.argsort(-steps, kind="stable")  # as `chains` has the sentences of each step
    alive = [int((steps > step).sum()) for step in range(int(steps.max()))]
    owner = np.concatenate([order[:count] for count in alive])
    target = ended[owner, np.repeat(np.arange(len(alive)), alive)]
    return Teaching(chains(begun, steps, device), *(on_device(part, device) for part in (target, owner)))
