"""Pairs in the order of their image, and the weighted sums over its candidates."""

import torch

from densevse.kernels import definitions
from densevse.kernels.grouped import Grouped, rows_of, weighted_sums
from tests.gradients import assert_same

IMAGE = torch.tensor([2, 0, 2, 2, 0])


def test_pairs_of_an_image_stand_together_and_find_their_places():
    pairs = Grouped.by(IMAGE)
    assert pairs.owner.tolist() == [0, 0, 2, 2, 2]
    assert pairs.order.tolist() == [1, 4, 0, 2, 3]
    assert pairs.order[pairs.place].tolist() == [0, 1, 2, 3, 4]
    assert pairs.runs == [(0, slice(0, 2)), (2, slice(2, 5))]


def test_sums_and_gradients_are_those_of_the_definition():
    torch.manual_seed(0)
    pairs = Grouped.by(IMAGE)
    weights, values = (torch.randn(size, dtype=torch.double, requires_grad=True) for size in ((5, 4), (3, 4, 2)))
    literal = definitions.weighted_sums(weights, values, pairs.owner)
    assert_same(weighted_sums(weights, values, pairs), literal, [weights, values])


def test_rows_and_their_gradient():
    x = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
    assert_same(rows_of(x, IMAGE), torch.stack([x[row] for row in IMAGE]), [x])
