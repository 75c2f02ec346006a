"""Both directions of an LSTM or GRU over shared beginnings and endings, against one sentence at a time."""

import pytest
import torch

from densevse.kernels.bidirectional import Bidirectional, plan_backward
from densevse.kernels.recurrent import prefixes
from tests.gradients import assert_same
from tests.kernels import definitions

CPU = torch.device("cpu")


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.usefixtures("ours_and_library")
def test_states_and_gradients_are_those_of_the_definition(kind):
    torch.manual_seed(0)
    table = torch.tensor([[1, 2, 3, 0], [2, 3, 0, 0], [1, 2, 3, 3], [2, 0, 0, 0], [1, 2, 3, 0]])
    lengths, tree = (table != 0).sum(dim=1), prefixes(table.numpy(), CPU)
    layer, vectors = Bidirectional(kind, 3, 2).double(), torch.randn(4, 3, dtype=torch.double, requires_grad=True)
    found = layer(vectors[tree.distinct], tree, plan_backward(table.numpy(), CPU))
    assert found.shape == (5, 4, 4)
    assert (found[table == 0] == 0).all()
    literal = [
        definitions.bidirectional(layer, vectors[row[:length]]) for row, length in zip(table, lengths, strict=True)
    ]
    assert_same(found[table != 0], torch.cat(literal), [vectors, *layer.parameters()])
