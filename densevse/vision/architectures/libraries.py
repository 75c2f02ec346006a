"""Shared code for the networks of libraries: what their weights say, preprocessing, and the layers that views can name.

The module of a library's network returns outputs by name: `pooled`, the library's vector of an image; `patches`, the
last block after its final norm, without class or register tokens, before any projection; and the scores of its classes,
if it has classes.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from densevse.config.networks import CLASSES, NetworkInput, NetworkSettings
from densevse.config.registries import PATCHES, POOLED
from densevse.vision.crops import Pixels
from densevse.vision.networks import Cropping, Network, standardise_pixels
from densevse.vision.quiet_torchvision import transforms
from snakeproof.errors import InputError

_NEAR = 3
_OF_MODEL = {"num_classes", "quick_gelu"}
"""Facts of weights that change no pixel and no word, so tags that differ only in them need not be told apart."""
_CONFIGURATIONS = ("open_clip_config.json", "config.json", "preprocessor_config.json")
_ENDING = re.compile(r"\.(safetensors|pth|pt|bin|npz|tar)$")
_OF_HUB = re.compile(r"https://huggingface\.co/([^/]+/[^/]+)/resolve/")
_GENERIC = {"", "model", "pytorch_model", "open_clip_model", "open_clip_pytorch_model"}
"""Names of files that do not tell whose weights they are."""
_RESAMPLING = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}
"""Pillow's numbers, which preprocessor_config.json has."""


class WeightsTable(ABC):
    """What a library says of the weights that it publishes, `<library>:<name>.<tag>`; each library has its own."""

    @abstractmethod
    def places(self, name: str) -> dict[str, list[str]]:
        """Tag -> the repositories of the Hub and the addresses where these weights of a network are."""

    @abstractmethod
    def facts(self, architecture: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """What a network, with or without a tag, applies to pixels and words, in the library's terms."""

    @abstractmethod
    def own_options(self, architecture: str, told: Mapping[str, Any]) -> dict[str, Any]:
        """The options that say what the files beside weights say (`told`: name -> content).

        Raises `InputError` if they are of another network.
        """

    def describe(self, architecture: str, options: Mapping[str, Any]) -> str:
        """A line that describes the preprocessing of pixels and words."""
        facts = self.facts(architecture, options)
        return ", ".join(f"{key} {value}" for key, value in facts.items() if key not in _OF_MODEL)

    def resolve(
        self, architecture: str, options: Mapping[str, Any], file: Path, places: Sequence[str] = (), entry: str = ""
    ) -> dict[str, Any]:
        """The `architecture` and `options` with which a network applies what the weights of a `file` say.

        The configuration beside the file decides; else the tag, which is written or has one of the weights' `places`;
        else what all tags agree on. What is applied anyway is not added, so that an entry stays as it is. If this
        leaves a choice, it stays too; in a plan, which gives the key of the `entry`, it raises `InputError`.
        """
        as_is: dict[str, Any] = {"architecture": architecture, "options": dict(options)}
        network, tag = split_tag(architecture)
        name, of_library = network.partition(":")[2], self.places(network.partition(":")[2])
        tagged = {one: {**as_is, "architecture": f"{network}.{one}"} for one in of_library}
        keys = _keys(
            [*places, file.name, *(part[8:].replace("--", "/") for part in file.parts if part[:8] == "models--")]
        )
        known = [tagged[one] for one in tagged if (keys - {name.lower()}) & _keys(of_library[one])]
        if own := self._read_options(architecture, file.parent):
            known = [{**as_is, "options": add_options(own, options)}]
        if tag:
            known.append(tagged.get(tag, as_is))
        choices = known or list(tagged.values())
        lines: dict[str, list[str]] = {}
        if tag in tagged or not (tag and tagged):
            facts = [self.facts(**choice) for choice in choices]
            for choice in choices:
                lines.setdefault(self.describe(**choice), []).append(choice["architecture"])
            if len(lines) < 2:
                certain = bool(known) or all(one == facts[0] for one in facts)
                return choices[0] if facts and certain and facts[0] != self.facts(**as_is) else as_is
        if not entry:
            return as_is
        said = "\n".join(f"- {', '.join(named)}: {line}" for line, named in lines.items()) or ", ".join(tagged)
        several = f"{file.name} may be several weights of {architecture}, which read images or words otherwise"
        what = several if lines else f"{network} has no weights {tag!r}"
        raise InputError(
            f"{entry}: {what}. Write the right tag in `architecture`, or what differs in `options`:\n{said}"
        )

    def _read_options(self, architecture: str, folder: Path) -> dict[str, Any]:
        """The options by the configuration in a folder. Raises `InputError` if its values are not as they must be."""
        told = read_configurations(folder, _CONFIGURATIONS)
        try:
            own = self.own_options(architecture, told) if told else {}
            facts = self.facts(architecture, own) if own else {}
            NetworkInput.model_validate({key: facts[key] for key in ("mean", "std") if key in facts})
        except (ValueError, TypeError, AttributeError, KeyError, IndexError, ZeroDivisionError) as error:
            raise InputError(
                f"{folder}: {' or '.join(told)} cannot be applied ({error}); correct or remove it."
            ) from None
        return own


def split_tag(architecture: str) -> tuple[str, str]:
    """The network, `<library>:<name>`, and the tag of its weights, which is empty if none is written."""
    network, _, tag = architecture.partition(".")
    return network, tag


def _keys(places: Iterable[str]) -> set[str]:
    """How places are recognised: as they are, by a repository's name without its owner, by a file's without ending."""
    whole = {place.rstrip("/").lower() for place in places}
    whole |= {found[1] for place in whole if (found := _OF_HUB.match(place))}
    return (whole | {_ENDING.sub("", place.rpartition("/")[2]) for place in whole}) - _GENERIC


def read_configurations(folder: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The configuration files in a folder, by name. Raises `InputError` for one that is no mapping in JSON."""
    found = {}
    for file in (folder / name for name in names if (folder / name).is_file()):
        try:
            found[file.name] = dict(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise InputError(f"{file}: not a configuration of weights ({error}); correct or remove it.") from None
    return found


def add_options(own: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The user's `options`, and what the weights' own configuration says besides."""
    both = {key: {**own[key], **value} for key, value in options.items() if isinstance(own.get(key), Mapping)}
    return {**own, **options, **both}


def read_preprocessor(told: Mapping[str, Any]) -> dict[str, Any]:
    """What preprocessor_config.json says: mean, std, interpolation, and the sides `resize` (none: squashed), `crop`."""
    sides = [told.get("size"), told.get("crop_size")]
    resize, crop = (one.get("shortest_edge", one.get("height")) if isinstance(one, dict) else one for one in sides)
    cropped = told.get("do_center_crop", crop is not None)
    squashed = "height" in sides[0] if isinstance(sides[0], dict) else not cropped
    found = {
        "mean": told.get("image_mean") if told.get("do_normalize", True) else [0.0] * 3,
        "std": told.get("image_std") if told.get("do_normalize", True) else [1.0] * 3,
        "interpolation": _RESAMPLING.get(told.get("resample", -1)),
        "resize": None if squashed else resize,
        "crop": crop if cropped else resize,
    }
    return {key: as_tuple(value) for key, value in found.items() if value is not None}


def as_tuple(value: Any) -> Any:
    """A tuple in the place of a list, as JSON has no tuples."""
    return tuple(value) if isinstance(value, list) else value


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
