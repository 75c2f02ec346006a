"""Linear maps by relation, against a vector at a time."""

import numpy as np
import pytest
import torch

from densevse.kernels.fragment_sums import LinearByRelation
from tests.gradients import assert_same
from tests.kernels import definitions


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("relation", [[2, 0, 2, 1, 0], [3, 3, 3], []], ids=["several", "one", "none"])
def test_values_and_gradients_are_those_of_the_definition(bias, relation):
    torch.manual_seed(0)
    layer = LinearByRelation(4, 3, 2, bias=bias).double()
    if bias:
        torch.nn.init.normal_(layer.bias)
    x = torch.randn(len(relation), 3, dtype=torch.double, requires_grad=True)
    relation = np.array(relation, np.int64)
    found = layer(x, relation)
    assert found.shape == (len(relation), 2)
    if len(relation):
        assert_same(found, definitions.linear_by_relation(layer, x, relation), [x, *layer.parameters()])
