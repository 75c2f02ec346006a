"""torchvision's transformers, by torchvision's names and with its preprocessing."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from densevse.config.networks import CLASSES, NetworkSettings
from densevse.config.registries import PATCHES, POOLED
from densevse.vision.architectures.libraries import (
    LibraryNetwork,
    OfLibrary,
    WeightsTable,
    as_tuple,
    build_library_model,
    read_preprocessor,
    split_tag,
    split_transform,
)
from densevse.vision.networks import load_network_weights
from densevse.vision.quiet_torchvision import models, transforms
from snakeproof.errors import InputError


class TorchvisionWeights(WeightsTable):
    """torchvision's enumerations of weights; the option `transforms` has arguments of their own transforms."""

    def places(self, name: str) -> dict[str, list[str]]:
        """The address of each tag."""
        return {one.name: [one.url] for one in models.get_model_weights(name)} if name in _model_names() else {}

    def facts(self, architecture: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of torchvision's transforms."""
        if split_tag(architecture)[0].partition(":")[2] not in _model_names():
            return {}
        own = vars(_transforms(architecture, options))
        sides = {key: as_tuple(own[key][0]) for key in ("resize_size", "crop_size")}
        return {**sides, "mean": (*own["mean"],), "std": (*own["std"],), "interpolation": own["interpolation"].value}

    def own_options(self, architecture: str, told: Mapping[str, Any]) -> dict[str, Any]:
        """The option `transforms`, by preprocessor_config.json."""
        own = read_preprocessor(told.get("preprocessor_config.json", {}))
        crop = own.pop("crop", None)
        sides = {"resize_size": own.pop("resize", (crop, crop)), "crop_size": crop}
        return {"transforms": own | sides} if crop else {}


TABLE = TorchvisionWeights()


def _model_names() -> list[str]:
    return models.list_models(module=models)  # type: ignore[no-any-return]


def _transforms(architecture: str, options: Mapping[str, Any]) -> Any:
    """The transforms of a tag, or of the default weights. Raises `ValueError` for an unknown tag."""
    own = dict(options.get("transforms", {}))
    if isinstance(own.get("interpolation"), str):
        own["interpolation"] = transforms.InterpolationMode(own["interpolation"])
    return _member(architecture).transforms(**own)


def _member(architecture: str) -> Any:
    network, tag = split_tag(architecture)
    members = models.get_model_weights(network.partition(":")[2])
    if tag and tag not in members.__members__:
        raise ValueError(f"it has no weights {tag}; known: {', '.join(members.__members__)}")
    return members[tag] if tag else members.DEFAULT


def _create(name: str, transforms: Any = None, **options: Any) -> Any:
    """A model with random weights, for images of the size that the weights of a tag read."""
    network, tag = split_tag(name)
    member = _member(f":{name}")
    side = {"image_size": member.meta["min_size"][0]} if tag and name.startswith("vit_") else {}
    return models.get_model(network, **{**side, **options})


def network(settings: NetworkSettings, weights: str | Path) -> LibraryNetwork:
    """The network with the weights of a file. Raises `InputError` if name, options or weights do not fit."""
    settings = settings.model_copy(update=TABLE.resolve(settings.architecture, settings.options, Path(weights)))
    architecture = settings.architecture
    model = build_library_model(architecture, _model_names(), _create, settings.options)
    if not isinstance(model, models.VisionTransformer | models.SwinTransformer):
        name = split_tag(architecture)[0].partition(":")[2]
        raise InputError(f"networks: {architecture} is not a ViT or Swin transformer; write `architecture: {name}`.")
    load_network_weights(model, architecture, weights)
    layers = {POOLED: partial(_pooled_vectors, model), PATCHES: partial(_patches, model), CLASSES: model}
    classes = (model.heads.head if isinstance(model, models.VisionTransformer) else model.head).out_features
    return LibraryNetwork(
        settings, OfLibrary(model, layers, classes), split_transform(_transform(settings), architecture)
    )


def _patches(model: Any, pixels: Tensor) -> Tensor:
    """(N, D, height, width) patches of the last block, after the norm that follows it."""
    if isinstance(model, models.SwinTransformer):
        found: Tensor = model.permute(model.norm(model.features(pixels)))
        return found
    side = pixels.shape[2] // model.patch_size
    patches: Tensor = _tokens(model, pixels)[:, 1:].transpose(1, 2).unflatten(2, (side, side))
    return patches


def _pooled_vectors(model: Any, pixels: Tensor) -> Tensor:
    """(N, D) input of the classifier: a ViT's class token, or the mean of a Swin transformer's patches."""
    swin = isinstance(model, models.SwinTransformer)
    return _patches(model, pixels).mean((2, 3)) if swin else _tokens(model, pixels)[:, 0]


def _tokens(model: models.VisionTransformer, pixels: Tensor) -> Tensor:
    """(N, 1 + patches, D) tokens of a ViT after its last norm, computed as in its own forward pass."""
    patches = model._process_input(pixels)
    found: Tensor = model.encoder(torch.cat([model.class_token.expand(len(patches), -1, -1), patches], dim=1))
    return found


def _transform(settings: NetworkSettings) -> transforms.Compose:
    """The preprocessing of the weights of a tag, or of the name's default ones, in steps."""
    own = _transforms(settings.architecture, settings.options)
    return transforms.Compose(
        [
            transforms.Resize(own.resize_size[0], interpolation=own.interpolation, antialias=own.antialias),
            transforms.CenterCrop(own.crop_size),
            transforms.ToTensor(),
            transforms.Normalize(own.mean, own.std),
        ]
    )
