"""torchvision's classifiers, with as many classes as their weights have."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from torch import Tensor, nn

from densevse.vision.quiet_torchvision import models


def untrained(architecture: str, state: Mapping[str, Tensor]) -> nn.Module:
    """A classifier with as many classes as `state` has; without a state, as ImageNet has."""
    network: nn.Module = models.get_model(architecture, weights=None)
    last = list(network.state_dict())[-1]  # a bias has one value for each class
    classes = state[last].numel() if last in state else 0
    if classes in (0, network.state_dict()[last].numel()):
        return network
    return models.get_model(architecture, weights=None, num_classes=classes)  # type: ignore[no-any-return]


def published_input(architecture: str, file: str) -> dict[str, Any]:
    """The input of torchvision's weights with this name of a file; nothing for other files."""
    for one in models.get_model_weights(architecture):
        if PurePath(one.url).stem == PurePath(file).stem:
            own = one.transforms()
            sides = {"size": own.crop_size[0], "resize": own.resize_size[0]}
            return {**sides, "mean": (*own.mean,), "std": (*own.std,)}
    return {}
