"""The recursion over dependency trees, depth by depth, against word by word."""

import numpy as np
import pytest
import torch

from densevse.kernels.depths import depths, sums_of_roots
from densevse.kernels.fragment_sums import LinearByRelation
from tests.gradients import assert_same
from tests.kernels import definitions


def test_sums_and_gradients_are_those_of_the_definition():
    """Of a sentence with two roots, one without words, one of one word and one where a word governs four."""
    torch.manual_seed(0)
    lengths = np.array([4, 0, 1, 5])
    head = np.array([1, -1, 1, -1, -1, 7, 7, -1, 7, 7])
    weights = np.array([0, 1, 2, 0, 1, 2, 0, 0, 1, 2])
    layer = LinearByRelation(3, 2, 2, bias=False).double()
    x = torch.randn(10, 2, dtype=torch.double, requires_grad=True)
    roots = [[1, 3], [], [4], [7]]
    of_roots = [[definitions.sdt_rnn(layer, x, head, weights, root) for root in some] for some in roots]
    zero = torch.zeros(2, dtype=torch.double)
    literal = torch.stack([sum((size * h for h, size in some), zero) for some in of_roots])
    found = sums_of_roots(x, layer, depths(head, weights, lengths, 3), len(lengths))
    assert_same(found, literal, [x, *layer.parameters()])
    assert [[size for _, size in some] for some in of_roots] == [[3, 1], [], [1], [5]]


@pytest.mark.parametrize("head", [[-1, 2, 1], [0], [1, 2, 0]])
def test_a_word_that_governs_itself_is_an_error(head):
    with pytest.raises(ValueError, match="governs itself"):
        depths(np.array(head), np.zeros(len(head), np.int64), np.array([len(head)]), 1)
