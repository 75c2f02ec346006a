"""Scores of pairs in bounded memory, against one pair at a time."""

from typing import NamedTuple

import pytest
import torch

from densevse.kernels.pairs import scores_of_all_pairs, scores_of_pairs
from tests.gradients import assert_same
from tests.kernels import definitions

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
