"""Scores of pairs in bounded memory, against one pair at a time; pairs by image, and weighted sums."""

from typing import NamedTuple

import pytest
import torch

from densevse.kernels import pairs as pairs_module
from densevse.kernels.pairs import Grouped, scores_of_all_pairs, scores_of_pairs, select_rows, weighted_sums
from tests.gradients import assert_same
from tests.kernels import definitions

IMAGE = torch.tensor([2, 0, 2, 2, 0])
LENGTHS = torch.tensor([3, 1, 2, 1, 9])


class Parts(NamedTuple):
    vectors: torch.Tensor
    factors: torch.Tensor


def parts(count, seed):
    generator = torch.Generator().manual_seed(seed)
    sizes = (count, 3), (count, 1)
    return Parts(*(torch.randn(size, dtype=torch.double, generator=generator, requires_grad=True) for size in sizes))


@pytest.fixture
def weight():
    return torch.randn(3, dtype=torch.double, requires_grad=True)


def comparing(weight, compared):
    """A comparison that is not a product of two sides, and that records the number of pairs in each call."""

    def compare(images, sentences, image, sentence, longest):
        compared.append(len(image))
        assert longest in LENGTHS
        sums = (images.vectors[image] + sentences.vectors[sentence]).tanh() @ weight
        return sums * images.factors[image, 0] * sentences.factors[sentence, 0]

    return compare


@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_scores_and_gradients_are_those_of_the_definition(weight, at_once):
    images, sentences, compared = parts(4, 0), parts(5, 1), []
    pairs = torch.tensor([0, 3, 3, 1, 0, 2, 2]), torch.tensor([4, 0, 1, 1, 4, 2, 3])
    compare = comparing(weight, compared)
    found = scores_of_pairs(compare, images, sentences, pairs, LENGTHS, [weight], at_once)
    assert max(compared) <= at_once
    assert_same(
        found, definitions.scores_of_pairs(compare, images, sentences, *pairs, 9), [*images, *sentences, weight]
    )


def test_pairs_that_the_loss_does_not_depend_on_are_compared_once(weight):
    compared = []
    pairs = torch.arange(4), torch.arange(4)
    found = scores_of_pairs(comparing(weight, compared), parts(4, 0), parts(4, 1), pairs, LENGTHS, [weight], 100)
    (found[1] + found[3]).backward()
    assert compared == [4, 2]


@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_all_pairs_in_tiles(weight, at_once):
    images, sentences, compared = parts(4, 0), parts(5, 1), []
    compare = comparing(weight, compared)
    found = scores_of_all_pairs(compare, images, sentences, LENGTHS, at_once)
    assert max(compared) <= at_once
    every = torch.cartesian_prod(torch.arange(4), torch.arange(5)).unbind(dim=1)
    torch.testing.assert_close(found, definitions.scores_of_pairs(compare, images, sentences, *every, 9).view(4, 5))


def test_pairs_of_an_image_stand_together_and_find_their_places():
    pairs = Grouped.from_owners(IMAGE)
    assert pairs.owner.tolist() == [0, 0, 2, 2, 2]
    assert pairs.order.tolist() == [1, 4, 0, 2, 3]
    assert pairs.order[pairs.place].tolist() == [0, 1, 2, 3, 4]
    assert pairs.runs == [(0, slice(0, 2)), (2, slice(2, 5))]


@pytest.mark.parametrize("in_slots", [True, False])
def test_sums_and_gradients_are_those_of_the_definition(monkeypatch, in_slots):
    """One product for each image and, as on a GPU, one for all."""
    monkeypatch.setattr(pairs_module, "uses_slots", lambda x: in_slots)
    torch.manual_seed(0)
    pairs = Grouped.from_owners(IMAGE)
    weights, values = (torch.randn(size, dtype=torch.double, requires_grad=True) for size in ((5, 4), (3, 4, 2)))
    literal = definitions.weighted_sums(weights, values, pairs.owner)
    assert_same(weighted_sums(weights, values, pairs), literal, [weights, values])


def test_slots_have_room_for_the_pairs_of_each_image():
    slots = Grouped.from_owners(IMAGE).slots
    assert (slots.images.tolist(), slots.width) == ([0, 2], 3)
    rows = torch.arange(1, 6)
    assert slots.pad_rows(rows).tolist() == [[1, 2, 0], [3, 4, 5]]
    assert torch.equal(slots.unpad_rows(slots.pad_rows(rows)), rows)


def test_rows_and_their_gradient():
    x = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
    assert_same(select_rows(x, IMAGE), torch.stack([x[row] for row in IMAGE]), [x])
