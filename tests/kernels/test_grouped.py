"""Pairs in the order of their image, and the weighted sums over its candidates."""

import pytest
import torch

from densevse.kernels import grouped
from densevse.kernels.grouped import Grouped, rows_of, weighted_sums
from tests.gradients import assert_same
from tests.kernels import definitions

IMAGE = torch.tensor([2, 0, 2, 2, 0])


def test_pairs_of_an_image_stand_together_and_find_their_places():
    pairs = Grouped.by(IMAGE)
    assert pairs.owner.tolist() == [0, 0, 2, 2, 2]
    assert pairs.order.tolist() == [1, 4, 0, 2, 3]
    assert pairs.order[pairs.place].tolist() == [0, 1, 2, 3, 4]
    assert pairs.runs == [(0, slice(0, 2)), (2, slice(2, 5))]


@pytest.mark.parametrize("in_slots", [True, False])
def test_sums_and_gradients_are_those_of_the_definition(monkeypatch, in_slots):
    """One product for each image and, as on a GPU, one for all."""
    monkeypatch.setattr(grouped, "in_slots", lambda x: in_slots)
    torch.manual_seed(0)
    pairs = Grouped.by(IMAGE)
    weights, values = (torch.randn(size, dtype=torch.double, requires_grad=True) for size in ((5, 4), (3, 4, 2)))
    literal = definitions.weighted_sums(weights, values, pairs.owner)
    assert_same(weighted_sums(weights, values, pairs), literal, [weights, values])


def test_slots_have_room_for_the_pairs_of_each_image():
    slots = Grouped.by(IMAGE).slots
    assert (slots.images.tolist(), slots.width) == ([0, 2], 3)
    rows = torch.arange(1, 6)
    assert slots.filled(rows).tolist() == [[1, 2, 0], [3, 4, 5]]
    assert torch.equal(slots.taken(slots.filled(rows)), rows)


def test_rows_and_their_gradient():
    x = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
    assert_same(rows_of(x, IMAGE), torch.stack([x[row] for row in IMAGE]), [x])
