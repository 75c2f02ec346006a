"""Networks of timm (PyTorch Image Models), by timm's names."""

from pathlib import Path
from typing import Any

import timm
from timm.data.config import resolve_data_config
from timm.data.transforms_factory import create_transform

from densevse.config.networks import CLASSES, NetworkSettings
from densevse.config.registries import PATCHES, POOLED
from densevse.vision.architectures.libraries import LibraryNetwork, OfLibrary, build_library_model, split_transform
from densevse.vision.networks import load_network_weights
from snakeproof.errors import InputError


def network(settings: NetworkSettings, weights: str | Path) -> LibraryNetwork:
    """The network with the weights of a file. Raises `InputError` if name, options or weights do not fit."""
    architecture = settings.architecture
    model: Any = load_network_weights(
        build_library_model(architecture, timm.list_models(), timm.create_model, settings.options),
        architecture,
        weights,
    )
    if not hasattr(model, "forward_intermediates"):
        raise InputError(f"networks: {architecture} gives no vectors of patches (forward_intermediates); name another.")
    layers = {
        # The classifier's input before dropout: pooled, after any layers that the library puts between.
        POOLED: lambda pixels: model.forward_head(model.forward_features(pixels), pre_logits=True),
        PATCHES: lambda pixels: model.forward_intermediates(
            pixels, indices=1, norm=True, output_fmt="NCHW", intermediates_only=True
        )[-1],
        CLASSES: model,
    }
    transform = create_transform(**resolve_data_config({}, model=model))
    return LibraryNetwork(
        settings, OfLibrary(model, layers, model.num_classes), split_transform(transform, architecture)
    )
