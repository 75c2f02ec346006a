"""What networks of all libraries have in common: the library's own preprocessing, and two layers of one module.

The module of a library's network gives what is asked for by name: `pooled`, the library's own vector of an image;
`patches`, the last block after its final norm, without class or register tokens, before any projection; and, where
it has some, the scores of its classes.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torchvision import transforms

from densevse.config.declared.libraries import PATCHES, POOLED
from densevse.config.networks import CLASSES, NetworkConfig
from densevse.runtime.errors import InputError
from densevse.vision.networks import Cropping, Network, check_state, read_state, standardised
from densevse.vision.resizing import Pixels

_NEAR = 3


class Preprocessing(NamedTuple):
    """A library's own preprocessing: what it does to pixels, then the mean and std of each channel, up to 1."""

    fit: Callable[[Image.Image], Image.Image]
    size: int
    mean: tuple[float, ...]
    std: tuple[float, ...]


class OfLibrary(nn.Module):
    """A library's model as a module that gives, of standardised pixels (N, 3, S, S), what is named.

    `layers` has the function of each: (N, D) pooled, (N, D, height, width) patches, (N, classes) scores.
    """

    def __init__(self, model: nn.Module, layers: Mapping[str, Callable[[Tensor], Tensor]], classes: int) -> None:
        super().__init__()
        self.model, self.classes = model, classes
        self._layers = layers

    def forward(self, pixels: Tensor, names: Sequence[str]) -> dict[str, Tensor]:
        """Name -> what is asked for."""
        return {name: self._layers[name](pixels) for name in dict.fromkeys(names)}


class LibraryNetwork(Network):
    """A network of a library, which sees images as the library's own preprocessing leaves them.

    With precision bf16 it computes under autocast, as any layer may stand in it.
    """

    def __init__(self, settings: NetworkConfig, module: OfLibrary, seen: Preprocessing) -> None:
        own = {"size": seen.size, "mean": seen.mean, "std": seen.std}
        super().__init__(settings.model_copy(update=own), module)
        self._fit, self._classes = seen.fit, module.classes

    @property
    def classes(self) -> int:
        """How many classes it tells, 0 for none."""
        return self._classes

    def fitted(self, pixels: Pixels, size: int) -> Pixels:
        """(S, S, 3): a whole image (height, width, 3) as the library resizes and crops it; `size` is that anyway."""
        return np.array(self._fit(Image.fromarray(np.ascontiguousarray(pixels))), np.uint8)

    def crops(self, pixels: Pixels, view: Cropping) -> Pixels:
        """(1, S, S, 3): the same, whatever the view."""
        return self.fitted(pixels, self.settings.size)[None]

    def node(self, layer: str) -> str:
        """The layer itself. Raises `InputError` for one that no library's network has."""
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
            pixels = standardised(batch.to(self.device), self.settings.mean, self.settings.std)
            found = self.module(pixels, asked)
        found.setdefault(CLASSES, torch.zeros(len(batch), 1, device=self.device))
        return tuple(found[name].float() for name in names)

    def _prepared(self, module: nn.Module) -> nn.Module:
        return module.eval().requires_grad_(False)


def preprocessing_of(transform: transforms.Compose, architecture: str) -> Preprocessing:
    """A library's transform in two: what it does to a picture before that becomes a tensor, and its mean and std.

    Raises `InputError` for a transform that is not like that, or gives no square.
    """
    steps = list(transform.transforms)
    tensor = next((place for place, step in enumerate(steps) if isinstance(step, transforms.ToTensor)), None)
    if tensor is None or len(steps) != tensor + 2 or not isinstance(steps[-1], transforms.Normalize):
        raise InputError(
            f"networks: {architecture}: its preprocessing {transform} is of a kind that is not known here."
        )
    fit = transforms.Compose(steps[:tensor])
    width, height = fit(Image.new("RGB", (64, 48))).size
    if width != height:
        raise InputError(f"networks: {architecture} sees {width} x {height} pixels; only squares are shown here.")
    mean, std = (tuple(map(float, values)) for values in (steps[-1].mean, steps[-1].std))
    return Preprocessing(fit, width, mean, std)


def filled(model: nn.Module, architecture: str, weights: str | Path) -> nn.Module:
    """The model with the weights of a file. Raises `InputError` naming the file and key that do not fit."""
    state = read_state(Path(weights))
    check_state(Path(weights), architecture, model.state_dict(), state)
    model.load_state_dict(state)
    return model


def made(architecture: str, known: Sequence[str], make: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """What a library makes of the name in `<library>:<name>` and `options`.

    Raises `InputError` that offers like names for one that is not `known`, or names options that it does not take.
    """
    library, _, name = architecture.partition(":")
    if name.partition(".")[0] not in known:
        near = get_close_matches(name, known, _NEAR) or [one for one in known if name.lower() in one.lower()][:_NEAR]
        meant = f"; is {' or '.join(map(repr, near))} meant?" if near else ""
        raise InputError(f"networks: {library} has no network {name!r}{meant} ({len(known):,} are known)")
    try:
        return make(name, **options)
    except (TypeError, ValueError, RuntimeError, AssertionError, KeyError) as error:  # libraries raise many kinds
        raise InputError(f"networks: {architecture} cannot be made with options {dict(options)}: {error}") from error
