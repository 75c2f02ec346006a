import pytest
import torch
import torchvision
from torch import nn

from densevse.scenes.network import ScenesNet
from densevse.vision.concept_network import head, last_linear, max_pool_regions, multi_label_loss, replace_head


def test_loss_is_eq_1_with_signs_and_logits():
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -4.0]], dtype=torch.double)
    present = torch.tensor([[True, False, True], [False, False, True]])
    for row, found in enumerate(multi_label_loss(logits, present)):
        expected = sum(torch.log(1 + torch.exp(-(1.0 if present[row, c] else -1.0) * logits[row, c])) for c in range(3))
        assert torch.allclose(found, expected)


def test_absent_concepts_teach_too():
    """As Eq 1 is printed, with y = 0 for an absent concept, its term would be constant."""
    logits = torch.zeros(1, 2, requires_grad=True)
    multi_label_loss(logits, torch.tensor([[True, False]])).sum().backward()
    assert logits.grad.tolist() == [[-0.5, 0.5]]


def test_large_logits_do_not_overflow():
    loss = multi_label_loss(torch.tensor([[1e4, -1e4]]), torch.tensor([[False, True]]))
    assert loss.tolist() == [2e4]


def test_the_best_region_of_each_concept_counts_and_missing_ones_do_not():
    logits = torch.tensor([[[1.0, -5.0], [0.0, 2.0], [9.0, 9.0]]])
    exists = torch.tensor([[True, True, False]])
    assert max_pool_regions(logits, exists).tolist() == [[1.0, 2.0]]


def test_a_head_begins_by_the_shares():
    layer = head(4, torch.tensor([0.5, 0.1]))
    assert torch.allclose(torch.sigmoid(layer.bias), torch.tensor([0.5, 0.1]))


@pytest.mark.parametrize(
    "network", [ScenesNet(5), torchvision.models.alexnet(weights=None), torchvision.models.mobilenet_v2(weights=None)]
)
def test_the_last_layer_is_replaced_and_all_layers_learn(network):
    name, _ = last_linear(network)
    changed = replace_head(network, torch.tensor([0.2, 0.3, 0.4]))
    logits = changed(torch.rand(2, 3, 96, 96))
    assert logits.shape == (2, 3)
    assert isinstance(changed.get_submodule(name), nn.Linear)
    multi_label_loss(logits, torch.ones(2, 3, dtype=torch.bool)).sum().backward()
    assert all(weight.grad is not None for weight in changed.parameters())


def test_a_network_that_ends_in_a_convolution_is_refused():
    with pytest.raises(ValueError, match=r"classifier\.1 is a convolution"):
        last_linear(torchvision.models.squeezenet1_0(weights=None))
