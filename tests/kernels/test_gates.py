"""The LSTM cell with its hand-written gradient, and its functions."""

import pytest
import torch

from densevse.kernels import recurrent as gates
from tests.gradients import assert_same
from tests.kernels import definitions


@pytest.mark.parametrize("part", [0, 1])
def test_the_cell_and_its_gradients_are_those_of_the_definition(part):
    torch.manual_seed(0)
    given = [torch.randn(6, size, dtype=torch.double, requires_grad=True) for size in (12, 3)]
    assert_same(gates.lstm_cell(*given)[part], definitions.lstm_cell(*given)[part], given)


def test_the_cell_leaves_its_inputs_as_they_are():
    given = torch.randn(2, 12), torch.randn(2, 3)
    before = [tensor.clone() for tensor in given]
    gates.lstm_cell(*given)
    assert all(map(torch.equal, given, before))


@pytest.mark.parametrize(("function", "through"), [("sigmoid", "through_sigmoid"), ("tanh", "through_tanh")])
def test_gradients_from_outputs(function, through):
    x = torch.linspace(-4, 4, 9, dtype=torch.double, requires_grad=True)
    output, gradient = getattr(torch, function)(x), torch.arange(9.0, dtype=torch.double)
    (expected,) = torch.autograd.grad(output, x, gradient)
    into = torch.empty_like(expected)
    torch.testing.assert_close(getattr(gates, through)(gradient, output.detach()), expected)
    assert getattr(gates, through)(gradient, output.detach(), out=into) is into
    torch.testing.assert_close(into, expected)


def test_the_logistic_function_in_place_also_of_large_numbers():
    x = torch.tensor([-1000.0, -20, -1, 0, 1, 20, 1000])
    expected = x.sigmoid()
    torch.testing.assert_close(gates.sigmoid_(x), expected)
    torch.testing.assert_close(x, expected)
