"""Linear maps with separate weights for each typed relation (DeFrag, Eq 1; SDT-RNN)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from densevse.kernels.arrays import Integers, on_device


class LinearByRelation(nn.Module):
    """The map W_R x + b_R, with separate weights for every relation R."""

    def __init__(self, relations: int, inputs: int, outputs: int, *, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(relations, outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(relations, outputs)) if bias else None
        nn.init.uniform_(self.weight, -(inputs**-0.5), inputs**-0.5)

    def forward(self, x: Tensor, relation: Integers) -> Tensor:
        """(n, outputs) maps of (n, inputs) vectors with the (n,) relation of each.

        Vectors are sorted by their relation, so that there is one matrix product for each relation.
        """
        order = on_device(np.argsort(relation, kind="stable"), x.device)
        counts = np.bincount(relation, minlength=len(self.weight)).tolist()
        biases = [None] * len(counts) if self.bias is None else self.bias.unbind()
        parts = zip(x[order].split(counts), self.weight.unbind(), biases, strict=True)
        mapped = torch.cat([linear(part, weight, bias) for part, weight, bias in parts])
        return torch.zeros_like(mapped).index_copy(0, order, mapped)
