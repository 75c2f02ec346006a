"""A network that a method trains further: computes, from pixels of regions, the features of the extraction.

It is the network of the extraction, up to the layer whose output is the feature. The artifact of the regions describes
it. Its first weights come from the extraction's file; the weights of a trained model come from the model's file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from densevse.config.networks import NetworkSettings, layer_nodes
from densevse.vision.networks import Network, as_vectors, load_module, standardise_pixels, untrained
from densevse.vision.quiet_torchvision import create_feature_extractor
from snakeproof.strict import validate

FIELDS = ("architecture", "batch_size", "layers", "mean", "nodes", "resize", "size", "std")


class FineTuned(nn.Module):
    """Maps crops (N, 3, S, S), uint8 RGB, to the vectors (N, D) of the extraction, with gradients.

    `layers` is the network itself, by its own names. It always stays in evaluation mode: batch normalisations keep
    their statistics and there is no dropout, so training starts from the extracted features.
    """

    def __init__(self, described: Mapping[str, Any], module: nn.Module) -> None:
        """`described` has the settings of the network of the regions, as their artifact or a model's file states them.

        Regions of an earlier version do not state the nodes of layers.
        """
        super().__init__()
        stated = {name: described[name] for name in FIELDS if name in described}
        settings = validate(NetworkSettings, {**stated, "precision": "fp32"}, "networks")
        if "nodes" not in stated:
            settings = settings.model_copy(update={"nodes": layer_nodes(settings, "regions")})
        self.described = {**stated, "nodes": settings.nodes}
        network = Network(settings, module)
        self.node = network.node(network.layer("regions"))
        self.layers = create_feature_extractor(network.module, [self.node], suppress_diff_warning=True)
        self.batch_size = settings.batch_size
        self.mean, self.std = settings.mean, settings.std
        self.eval()

    @classmethod
    def from_file(cls, described: Mapping[str, Any], weights: str | Path) -> Self:
        """The network of an extraction. Raises `InputError` as `load_module` does."""
        return cls(described, load_module(described["architecture"], weights))

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> Self:
        """The same network with random weights, to be replaced by those of a trained model."""
        return cls(described, untrained(described["architecture"], {}).eval())

    def train(self, mode: bool = True) -> Self:
        """Stays in evaluation mode."""
        return super().train(False)

    def forward(self, crops: Tensor) -> Tensor:
        """(N, 3, S, S) to (N, D), in batches of the extraction's size."""
        return torch.cat([self._vectors(some) for some in crops.split(self.batch_size)])

    def _vectors(self, crops: Tensor) -> Tensor:
        scaled = standardise_pixels(crops, self.mean, self.std)
        return as_vectors(self.layers(scaled.contiguous(memory_format=torch.channels_last))[self.node]).float()
