"""The scores of order embeddings, in blocks, against a loop over pairs."""

import pytest
import torch

from densevse.kernels import order
from tests.gradients import assert_same
from tests.kernels import definitions


@pytest.mark.parametrize("elements", [1, 24, 1 << 20])
def test_scores_and_gradients_are_those_of_the_definition(monkeypatch, elements):
    monkeypatch.setattr(order._OrderScores, "ELEMENTS", elements)
    generator = torch.Generator().manual_seed(1)
    given = [torch.rand(n, 4, generator=generator, dtype=torch.double).requires_grad_() for n in (5, 3)]
    assert_same(order.order_scores(*given), definitions.order_scores(*given), given)


def test_the_general_below_the_specific_is_no_violation():
    assert order.order_scores(torch.ones(1, 4), torch.zeros(1, 4)) == 0
