"""Shared code for the networks of libraries: preprocessing, and the two layers that views can name.

The module of a library's network returns outputs by name: `pooled`, the library's vector of an image; `patches`, the
last block after its final norm, without class or register tokens, before any projection; and the scores of its classes,
if it has classes.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torchvision import transforms

from densevse.config.networks import CLASSES, NetworkSettings
from densevse.config.registries import PATCHES, POOLED
from densevse.vision.crops import Pixels
from densevse.vision.networks import Cropping, Network, standardise_pixels
from snakeproof.errors import InputError

_NEAR = 3


class Preprocessing(NamedTuple):
    """A library's preprocessing: a transform of pixels, and the mean and std of each channel for values up to 1."""

    fit: Callable[[Image.Image], Image.Image]
    size: int
    mean: tuple[float, ...]
    std: tuple[float, ...]


class OfLibrary(nn.Module):
    """Wraps a library's model: returns named outputs of standardised pixels (N, 3, S, S).

    `layers` has a function for each: (N, D) pooled, (N, D, height, width) patches, (N, classes) scores.
    """

    def __init__(self, model: nn.Module, layers: Mapping[str, Callable[[Tensor], Tensor]], classes: int) -> None:
        super().__init__()
        self.model, self.classes = model, classes
        self._layers = layers

    def forward(self, pixels: Tensor, names: Sequence[str]) -> dict[str, Tensor]:
        """The named outputs, by name."""
        return {name: self._layers[name](pixels) for name in dict.fromkeys(names)}


class LibraryNetwork(Network):
    """A network of a library, which reads images after the library's own preprocessing.

    With precision bf16 it computes under autocast, as it may contain any kind of layer.
    """

    def __init__(self, settings: NetworkSettings, module: OfLibrary, preprocessing: Preprocessing) -> None:
        own = {"size": preprocessing.size, "mean": preprocessing.mean, "std": preprocessing.std}
        super().__init__(settings.model_copy(update=own), module)
        self._fit, self._classes = preprocessing.fit, module.classes

    @property
    def classes(self) -> int:
        """The number of classes, 0 for none."""
        return self._classes

    def fit_image(self, pixels: Pixels, size: int) -> Pixels:
        """(S, S, 3): a whole image (height, width, 3), resized and cropped as the library does; `size` is ignored."""
        return np.array(self._fit(Image.fromarray(np.ascontiguousarray(pixels))), np.uint8)

    def crops(self, pixels: Pixels, view: Cropping) -> Pixels:
        """(1, S, S, 3): the fitted image, for every view."""
        return self.fit_image(pixels, self.settings.size)[None]

    def node(self, layer: str) -> str:
        """The layer's name as it is. Raises `InputError` for a name other than `pooled` and `patches`."""
        if layer not in (POOLED, PATCHES, CLASSES):
            raise InputError(
                f"networks: {self.settings.architecture} has no layer {layer!r}; known: {POOLED}, {PATCHES}."
            )
        return layer

    def outputs(self, batch: Tensor, layers: Sequence[str]) -> tuple[Tensor, ...]:
        """The activations of several layers; class scores of a network without classes are zeros (N, 1)."""
        names = [self.node(layer) for layer in layers]
        asked = [name for name in names if self._classes or name != CLASSES]
        half = torch.autocast(self.device.type, torch.bfloat16, enabled=self.dtype == torch.bfloat16)
        with torch.inference_mode(), half:
            pixels = standardise_pixels(batch.to(self.device), self.settings.mean, self.settings.std)
            found = self.module(pixels, asked)
        found.setdefault(CLASSES, torch.zeros(len(batch), 1, device=self.device))
        return tuple(found[name].float() for name in names)

    def _prepare_module(self, module: nn.Module) -> nn.Module:
        return module.eval().requires_grad_(False)


def split_transform(transform: transforms.Compose, architecture: str) -> Preprocessing:
    """Splits a library's transform: the steps before a picture becomes a tensor, and its mean and std.

    Raises `InputError` if the transform cannot be split so, or if its result is not square.
    """
    steps = list(transform.transforms)
    tensor = next((place for place, step in enumerate(steps) if isinstance(step, transforms.ToTensor)), None)
    if tensor is None or len(steps) != tensor + 2 or not isinstance(steps[-1], transforms.Normalize):
        raise InputError(
            f"networks: {architecture}: its preprocessing {transform} is of an unsupported kind; name another network."
        )
    fit = transforms.Compose(steps[:tensor])
    width, height = fit(Image.new("RGB", (64, 48))).size
    if width != height:
        raise InputError(
            f"networks: {architecture} reads {width} x {height} pixels, but only squares are supported; name another "
            "network."
        )
    mean, std = (tuple(map(float, values)) for values in (steps[-1].mean, steps[-1].std))
    return Preprocessing(fit, width, mean, std)


def build_library_model(
    architecture: str, known: Sequence[str], make: Callable[..., Any], options: Mapping[str, Any]
) -> Any:
    """Builds the network of a library that `<library>:<name>` and `options` describe.

    Raises `InputError` if the name is not `known`, with similar names, or if the library does not take the options.
    """
    library, _, name = architecture.partition(":")
    if name.partition(".")[0] not in known:
        near = get_close_matches(name, known, _NEAR) or [one for one in known if name.lower() in one.lower()][:_NEAR]
        meant = f"; is {' or '.join(map(repr, near))} meant?" if near else ""
        raise InputError(f"networks: {library} has no network {name!r}{meant} ({len(known):,} are known)")
    try:
        return make(name, **options)
    except (TypeError, ValueError, RuntimeError, AssertionError, KeyError) as error:  # libraries raise many
        raise InputError(
            f"networks: {architecture} cannot be built with the options {dict(options)}: {error}"
        ) from error
