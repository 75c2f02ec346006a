"""A recurrence of the library on the simulated device: the CPU's values and gradients, by one launch each way."""

import copy

import pytest
import torch
from torch import nn

from tests.device.chosen import DEVICE, REAL, begin, launches


@pytest.mark.skipif(REAL, reason="a GPU's launches are not counted")
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("packed", [False, True])
def test_a_recurrence_is_one_launch_each_way(kind, packed):
    torch.manual_seed(0)
    module = kind(3, 4, bidirectional=True)
    placed = copy.deepcopy(module).to(DEVICE)
    words = torch.randn(5, 2, 3)
    given = nn.utils.rnn.pack_padded_sequence(words, torch.tensor([5, 3])) if packed else (words,)
    expected, *_ = module(given if packed else words)
    expected = expected.data if packed else expected
    start = torch.zeros(2, 2, 4).to(DEVICE)
    states = (start, start) if kind is nn.LSTM else start
    sizes = [given.batch_sizes] if packed else []
    compute = torch._VF.lstm if kind is nn.LSTM else torch._VF.gru
    options = [placed._flat_weights, True, 1, 0.0, True, True, *[False] * (not packed)]
    data = given[0].to(DEVICE)
    begin()
    found, *_ = compute(data, *sizes, states, *options) if packed else compute(data, states, *options)
    assert launches().total() == 1
    assert torch.equal(found.cpu(), expected)
    expected.square().sum().backward()
    found.square().sum().backward()
    for name, weight in module.named_parameters():
        torch.testing.assert_close(placed.get_parameter(name).grad.cpu(), weight.grad)
    assert sum("backward" in name for name in launches()) == 1
