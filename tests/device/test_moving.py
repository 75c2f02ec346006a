"""A batch on its way to the tested device."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch

from densevse.methods.moving import Packed, Stored, to_device
from tests.device.chosen import CPU, DEVICE, REAL, begin, launches


class Pair(NamedTuple):
    words: torch.Tensor
    lengths: tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Example:
    parts: dict[str, torch.Tensor]
    pair: Pair
    rows: slice
    host: np.ndarray


def example():
    pair = Pair(torch.arange(15).view(3, 5).T, (torch.tensor(7), torch.tensor([True, False, True])))
    parts = {"none": torch.zeros(4, 0, dtype=torch.bool), "real": torch.rand(3, 2), "half": torch.rand(5).half()}
    return Example(parts, pair, slice(1, 2), np.arange(3))


def tensors_of(item):
    return [*item.parts.values(), item.pair.words, *item.pair.lengths]


@pytest.mark.parametrize("device", [CPU, DEVICE])
def test_a_packed_item_has_the_same_tensors(device):
    item = example()
    moved = Packed(item, pin=REAL).to(device)
    assert type(moved.pair) is Pair
    assert (moved.rows, moved.host) == (item.rows, item.host)
    for found, expected in zip(tensors_of(moved), tensors_of(item), strict=True):
        assert (found.device, found.dtype) == (device, expected.dtype)
        assert torch.equal(found.cpu(), expected)


@pytest.mark.skipif(REAL, reason="a GPU's copies are not counted")
def test_one_copy_moves_a_packed_item():
    begin()
    Packed(example(), pin=False).to(DEVICE)
    assert sum(launches().values()) == 1


@pytest.mark.parametrize("move", [to_device, lambda item, device: Packed(item, pin=REAL).to(device)])
def test_stored_features_become_float32_on_the_device(move):
    values, rows = torch.rand(6, 4).half(), torch.tensor([[5, 0], [0, 3], [1, 1]])
    sent, looked_up = move((Stored(values), Stored(rows, values.to(DEVICE))), DEVICE)
    assert (sent.device, looked_up.device) == (DEVICE, DEVICE)
    assert torch.equal(sent.cpu(), values.float())
    assert torch.equal(looked_up.cpu(), values[rows].float())
