"""Linear maps as the methods start them."""

from torch import nn


def xavier_linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear map that starts with weights of Xavier's uniform distribution and biases of 0."""
    linear = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(linear.weight)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear
