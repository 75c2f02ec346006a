"""Functions of recurrent cells' gates, and the gradients of their inputs, computed from their outputs."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def sigmoid_(x: Tensor) -> Tensor:
    """The logistic function, in place. On CPUs with AVX-512, PyTorch's own takes 18 times as long as its exp alone."""
    return x.neg_().exp_().add_(1).reciprocal_()


def through_sigmoid(gradient: Tensor, output: Tensor, out: Tensor | None = None) -> Tensor:
    """The gradient of a sigmoid's input, from the output's gradient and the output."""
    given = {} if out is None else {"grad_input": out}
    return torch.ops.aten.sigmoid_backward(gradient, output, **given)  # type: ignore[no-any-return]


def through_tanh(gradient: Tensor, output: Tensor, out: Tensor | None = None) -> Tensor:
    """The gradient of a tanh's input, from the output's gradient and the output."""
    given = {} if out is None else {"grad_input": out}
    return torch.ops.aten.tanh_backward(gradient, output, **given)  # type: ignore[no-any-return]


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Hochreiter and Schmidhuber's cell with forget gate: (P, 4H) gates and a (P, H) cell to the next state and cell.

    `gates` are the inputs of the gates in the order input, forget, output, candidate.
    """
    hidden, after = _Cell.apply(gates, cell)  # type: ignore[no-untyped-call]
    return hidden, after


class _Cell(torch.autograd.Function):
    """The cell as an autograd function that saves the gates, not their inputs."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        size = cell.shape[1]
        opened = sigmoid_(gates[:, : 3 * size].clone(memory_format=torch.contiguous_format))
        candidate = gates[:, 3 * size :].tanh()
        i, f, o = opened.split(size, dim=1)
        after = torch.addcmul(i * candidate, f, cell)
        squashed = after.tanh()
        ctx.save_for_backward(opened, candidate, cell, squashed)
        return o * squashed, after

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_hidden: Tensor, of_after: Tensor) -> tuple[Tensor, Tensor]:
        opened, candidate, cell, squashed = ctx.saved_tensors
        i, f, o = opened.split(cell.shape[1], dim=1)
        of_gates = cell.new_empty(len(cell), 4 * cell.shape[1])
        of_i, of_f, of_o, of_candidate = of_gates.split(cell.shape[1], dim=1)
        here = through_tanh(of_hidden * o, squashed).add_(of_after)
        through_sigmoid(of_hidden * squashed, o, out=of_o)
        through_sigmoid(here * candidate, i, out=of_i)
        through_sigmoid(here * cell, f, out=of_f)
        through_tanh(here * i, candidate, out=of_candidate)
        return of_gates, here.mul_(f)
