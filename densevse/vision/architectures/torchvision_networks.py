"""torchvision's transformers, by torchvision's names and with its preprocessing."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torchvision import models, transforms
from torchvision.models import SwinTransformer, VisionTransformer

from densevse.config.networks import CLASSES, NetworkSettings
from densevse.config.registries import PATCHES, POOLED
from densevse.vision.architectures.libraries import LibraryNetwork, OfLibrary, build_library_model, split_transform
from densevse.vision.networks import load_network_weights
from snakeproof.errors import InputError


def network(settings: NetworkSettings, weights: str | Path) -> LibraryNetwork:
    """The network with the weights of a file. Raises `InputError` if name, options or weights do not fit."""
    architecture = settings.architecture
    model = build_library_model(architecture, models.list_models(module=models), models.get_model, settings.options)
    if not isinstance(model, VisionTransformer | SwinTransformer):
        name = architecture.partition(":")[2]
        raise InputError(f"networks: {architecture} is not a ViT or Swin transformer; write `architecture: {name}`.")
    load_network_weights(model, architecture, weights)
    layers = {POOLED: partial(_pooled_vectors, model), PATCHES: partial(_patches, model), CLASSES: model}
    classes = (model.heads.head if isinstance(model, VisionTransformer) else model.head).out_features
    return LibraryNetwork(
        settings, OfLibrary(model, layers, classes), split_transform(_transform(settings), architecture)
    )


def _patches(model: Any, pixels: Tensor) -> Tensor:
    """(N, D, height, width) patches of the last block, after the norm that follows it."""
    if isinstance(model, SwinTransformer):
        found: Tensor = model.permute(model.norm(model.features(pixels)))
        return found
    side = pixels.shape[2] // model.patch_size
    patches: Tensor = _tokens(model, pixels)[:, 1:].transpose(1, 2).unflatten(2, (side, side))
    return patches


def _pooled_vectors(model: Any, pixels: Tensor) -> Tensor:
    """(N, D) input of the classifier: a ViT's class token, or the mean of a Swin transformer's patches."""
    swin = isinstance(model, SwinTransformer)
    return _patches(model, pixels).mean((2, 3)) if swin else _tokens(model, pixels)[:, 0]


def _tokens(model: VisionTransformer, pixels: Tensor) -> Tensor:
    """(N, 1 + patches, D) tokens of a ViT after its last norm, computed as in its own forward pass."""
    patches = model._process_input(pixels)
    found: Tensor = model.encoder(torch.cat([model.class_token.expand(len(patches), -1, -1), patches], dim=1))
    return found


def _transform(settings: NetworkSettings) -> transforms.Compose:
    """The preprocessing of the default weights of that name, in steps."""
    own = models.get_model_weights(settings.architecture.partition(":")[2]).DEFAULT.transforms()
    return transforms.Compose(
        [
            transforms.Resize(own.resize_size, interpolation=own.interpolation, antialias=own.antialias),
            transforms.CenterCrop(own.crop_size),
            transforms.ToTensor(),
            transforms.Normalize(own.mean, own.std),
        ]
    )
