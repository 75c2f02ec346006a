"""The last layers of HM-LSTM's two branches (section 3.2.2), which VSE can use too."""

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, normalize

from densevse.kernels.arrays import to_float32


class Branch(nn.Module):
    """One of the two branches (section 3.2.2): fully connected, batch normalisation, unit norm."""

    def __init__(self, inputs: int, dimension: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, dimension)
        self.norm = nn.BatchNorm1d(dimension)

    def forward(self, x: Tensor, wholes: int | None = None) -> Tensor:
        """(n, dimension) vectors of unit norm, from (n, inputs).

        In training, batch normalisation takes its statistics from the first `wholes` rows (by default from all) and
        applies them to all rows. One row has no statistics: the running ones are used.
        """
        x, norm = to_float32(self.linear(x)), self.norm  # statistics need float32
        wholes = x.shape[0] if wholes is None else wholes  # `len` would fix it in an exported graph
        if not self.training or wholes == 1:
            x = batch_norm(x, norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=norm.eps)
        else:
            variance, mean = torch.var_mean(x[:wholes], dim=0, correction=0)
            scale = norm.weight * torch.rsqrt(variance + norm.eps)
            x = torch.cat((norm(x[:wholes]), torch.addcmul(norm.bias, x[wholes:] - mean, scale)))
        return normalize(x, dim=1)
