"""torchvision's classifiers, with as many classes as their weights have."""

from collections.abc import Mapping

import torchvision
from torch import Tensor, nn


def untrained(architecture: str, state: Mapping[str, Tensor]) -> nn.Module:
    """A classifier with as many classes as `state` has; without a state, as ImageNet has."""
    network: nn.Module = torchvision.models.get_model(architecture, weights=None)
    last = list(network.state_dict())[-1]  # a bias has one value for each class
    classes = state[last].numel() if last in state else 0
    if classes in (0, network.state_dict()[last].numel()):
        return network
    return torchvision.models.get_model(architecture, weights=None, num_classes=classes)  # type: ignore[no-any-return]
