"""Networks whose layers give features; here the convolutional ones of all five papers.

They take their weights from a file and stop after the requested layer. The modules named in
densevse/config/registries.py build the networks of libraries. With precision bf16, convolutions and linear layers
compute in bf16 and batch normalisations keep their parameters in float32, as under autocast. Autocast would convert all
weights for every batch; here they are converted once.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.fx.experimental.optimization import fuse
from torch.nn import functional

from densevse.config.networks import CLASSES, NetworkConfig, NetworkSettings
from densevse.config.registries import ARCHITECTURES
from densevse.runtime.numerics import device, fastest_precision
from densevse.vision.crops import Pixels, squeeze_image
from densevse.vision.quiet_torchvision import create_feature_extractor, get_graph_node_names, models
from snakeproof.errors import InputError
from snakeproof.seals import is_sealed, verify_file
from snakeproof.strict import validate

EPSILON = 1e-6
"""A batch normalisation adds this to the variance of pixels (some thousands), as it must not be zero."""

CHECKPOINTS = ("state_dict", "model")
"""Keys under which training scripts store the state dict in their checkpoints."""

WRAPPERS = ("module", "_orig_mod")
"""Prefixes that DataParallel and torch.compile add to the names of modules that they wrap."""


class Cropping(Protocol):
    """The crops of an image that a view shows to a network: see densevse/vision/views."""

    def crops(self, pixels: Pixels, resize: int, size: int) -> Pixels:
        """(crops, size, size, 3) of an image (height, width, 3)."""


class Network:
    """A network on the best device, which takes batches of pixels.

    A batch is (N, 3, height, width) RGB, uint8 or integers from 0 to 255; the configuration's mean and std are applied
    here. Results are float32.
    """

    def __init__(self, settings: NetworkSettings, module: nn.Module) -> None:
        self.settings = settings
        self.device = device()
        precision = fastest_precision() if settings.precision == "auto" else settings.precision
        self.dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        self.module = self._prepare_module(module).to(self.device)
        self._cut: dict[tuple[str, ...], nn.Module] = {}
        self._mean = 255 * torch.tensor(settings.mean, device=self.device)
        self._variance = (255 * torch.tensor(settings.std, device=self.device)) ** 2

    @property
    def classes(self) -> int | None:
        """The number of classes, 0 for none; None if it is unknown before the network runs."""
        return None

    def fit_image(self, pixels: Pixels, size: int) -> Pixels:
        """(size, size, 3): a whole image (height, width, 3) as the network reads it, here squeezed."""
        return squeeze_image(pixels, size)

    def crops(self, pixels: Pixels, view: Cropping) -> Pixels:
        """(crops, size, size, 3): a view's crops of an image (height, width, 3)."""
        return view.crops(pixels, self.settings.resize, self.settings.size)

    def blank_batch(self, images: int, crops: int) -> Any:
        """(images, crops, size, size, 3) black crops."""
        side = self.settings.size
        return np.zeros((images, crops, side, side, 3), np.uint8)

    def image_vectors(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """(images, D) of (images, 1) whole images, of a network whose own steps read them. Raises `TypeError` here."""
        raise TypeError(f"{self.settings.architecture} reads crops")

    def features(self, batch: Tensor, layer: str) -> Tensor:
        """(N, D) activations of a layer; for a convolution, their mean over all cells."""
        return as_vectors(self.outputs(batch, [layer])[0])

    def grid(self, batch: Tensor, layer: str) -> Tensor:
        """(N, cells, D) activations of a convolution, row by row (sm-LSTM: 196 cells of conv5_4)."""
        maps = self.outputs(batch, [layer])[0]
        if maps.ndim != 4:
            raise InputError(
                f"networks: layer {layer!r} of {self.settings.architecture} is not a grid of cells; name a "
                "convolution in the network's layers.grid."
            )
        return maps.flatten(2).transpose(1, 2).contiguous()

    def outputs(self, batch: Tensor, layers: Sequence[str]) -> tuple[Tensor, ...]:
        """The activations of several layers, in one pass that ends after the last of them."""
        nodes = tuple(self.node(layer) for layer in layers)
        if nodes not in self._cut:
            self._cut[nodes] = self._cut_module(nodes)
        with torch.inference_mode():
            # Integers up to 255 are exact in bf16; a batch normalisation scales them in float32 and rounds once. On
            # whole planes it takes a sixth of the time, as it cannot vectorise over three interleaved channels.
            planes = batch.to(self.device, non_blocking=True).to(self.dtype, memory_format=torch.contiguous_format)
            scaled = functional.batch_norm(planes, self._mean, self._variance, eps=EPSILON)
            found = self._cut[nodes](scaled.contiguous(memory_format=torch.channels_last))
            return tuple(found[node].float() for node in nodes)

    def layer(self, view: str) -> str:
        """The layer whose output is a view's feature. Raises `InputError` if the configuration names none."""
        if view not in self.settings.layers:
            raise InputError(f"networks: no layer for the view {view!r}; name one in the network's layers.{view}.")
        return self.settings.layers[view]

    def node(self, layer: str) -> str:
        """The name of a layer's node in the traced network. Raises `InputError` if the network lacks the layer."""
        if layer == CLASSES:
            return self._nodes[-1]
        node = self.settings.nodes.get(layer, layer)
        if not any(known == node or known.startswith(f"{node}.") for known in self._nodes):
            known_names = ", ".join([*self.settings.nodes, CLASSES])
            raise InputError(
                f"networks: {self.settings.architecture} has no layer {layer!r}; known: {known_names}, or one of "
                "torchvision's names of its nodes."
            )
        return node

    def _prepare_module(self, module: nn.Module) -> nn.Module:
        return _convert_layers(module, self.dtype)

    @cached_property
    def _nodes(self) -> list[str]:
        found: list[str] = get_graph_node_names(self.module, suppress_diff_warning=True)[1]
        return found

    def _cut_module(self, nodes: Sequence[str]) -> nn.Module:
        names = dict(zip(nodes, nodes, strict=True))
        cut = create_feature_extractor(self.module, names, suppress_diff_warning=True).eval()
        # A batch normalisation takes nearly as long as its convolution, so it is folded into it; in bf16 that would
        # round the weights twice.
        return fuse(cut, inplace=True, no_trace=True) if self.dtype == torch.float32 else cut


def _convert_layers(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    for part in module.modules():
        if isinstance(part, nn.Conv2d | nn.Linear):
            part.to(dtype)
        if isinstance(part, nn.Conv2d):
            part.to(memory_format=torch.channels_last)
    return module


def load_network(settings: Mapping[str, Any], weights: str | Path) -> Network:
    """Loads the network of `NetworkSettings` (as plain values) with the weights of a file; see `load_module`."""
    chosen = validate(NetworkSettings, dict(settings), "networks")
    if chosen.library is not None:
        found: Network = import_module(chosen.library.implementation).network(chosen, weights)
        return found
    return Network(chosen, load_module(chosen.architecture, weights))


def describe_input(settings: NetworkConfig) -> str:
    """The preprocessing of a network, in a line; of one that encodes sentences, also of these."""
    if settings.library is not None:
        found: str = import_module(settings.library.implementation).TABLE.describe(
            settings.architecture, settings.options
        )
        return found
    return ", ".join(f"{key} {getattr(settings, key)}" for key in ("size", "resize", "mean", "std"))


def load_module(architecture: str, weights: str | Path) -> nn.Module:
    """Loads a classifier in float32 with the weights of a file, in evaluation mode.

    The file is a state dict: safetensors, or torch's format, which is read without executing code. Raises `InputError`
    if the architecture is unknown or the file does not fit; it names the file, the key, and the expected and found
    shapes.
    """
    state = read_state(Path(weights))
    with torch.device("meta"):
        module = untrained(architecture, state)
    check_state(Path(weights), architecture, module.state_dict(), state)
    module.load_state_dict(state, assign=True)
    return module.eval().requires_grad_(False)


def untrained(architecture: str, state: Mapping[str, Tensor]) -> nn.Module:
    """A classifier with random weights and the classes of `state`. Raises `InputError` if it is unknown.

    Its module is imported by name, so that only jobs that use the architecture depend on it.
    """
    try:
        found = ARCHITECTURES[ARCHITECTURES.check(architecture)]
    except ValueError as error:
        raise InputError(f"networks: {error}.") from None
    if found.finds_boxes:
        raise InputError(f"networks: {architecture} is a detector, which gives only regions; name a classifier.")
    module: nn.Module = import_module(found.implementation).untrained(architecture, state)
    return module


def read_state(path: Path) -> dict[str, Tensor]:
    """A file's tensors by name, floats as float32, read without executing code. Raises `InputError` if it has none.

    The state dict may be inside a training checkpoint, and its keys may be those of a wrapped module.
    """
    try:
        state: Any
        if path.suffix == ".safetensors":
            if is_sealed(path):  # made by the workflow
                verify_file(path)
            state = load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; it should hold a network's weights.") from None
    except OSError as error:  # a folder, or a file without read permission
        raise InputError(f"{path}: cannot read the network's weights ({error}).") from error
    except InputError:
        raise
    except Exception as error:  # torch raises many kinds of exceptions for a damaged file
        reason = [type(error).__name__, *str(error).splitlines()[:1]]
        raise InputError(
            f"{path}: expected a state dict (safetensors, or torch's format without code), found something else or "
            f"a part of one ({': '.join(reason)}). Obtain the file again."
        ) from error
    if isinstance(state, dict):
        state = next((state[key] for key in CHECKPOINTS if isinstance(state.get(key), dict)), state)
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise InputError(
            f"{path}: expected a state dict (tensors by name), found {type(state).__name__} of other things."
        )
    return {_own_name(key): value.float() if value.is_floating_point() else value for key, value in state.items()}


def _own_name(key: str) -> str:
    return ".".join(part for part in str(key).split(".") if part not in WRAPPERS)


def load_network_weights(model: nn.Module, architecture: str, weights: str | Path) -> nn.Module:
    """The model with the weights of a file. Raises `InputError` that names the file and the key that does not fit."""
    state = read_state(Path(weights))
    check_state(Path(weights), architecture, model.state_dict(), state)
    model.load_state_dict(state)
    return model


def check_state(
    path: Path, architecture: str, expected: Mapping[str, Tensor], found: MutableMapping[str, Tensor]
) -> None:
    """Checks that `found` matches what a network expects, and adds the counters that old files lack.

    Raises `InputError` that names the file and the key that does not fit.
    """
    for key in sorted(expected.keys() | found.keys()):
        if key.endswith("num_batches_tracked"):
            found.setdefault(key, torch.tensor(0))
        shapes = [f"shape {tuple(state[key].shape)}" if key in state else "no such key" for state in (expected, found)]
        if shapes[0] != shapes[1]:
            raise InputError(
                f"{path}: {key}: expected {shapes[0]} for {architecture}, found {shapes[1]}. The file holds another "
                "network's weights: correct `weights` or `local` of the network in the configuration."
            )


def standardise_pixels(pixels: Tensor, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """(N, 3, height, width) pixels from 0 to 255 as float32, standardised by means and stds of values up to 1."""
    shift, scale = (255 * torch.tensor(values, device=pixels.device).view(3, 1, 1) for values in (mean, std))
    return (pixels.float() - shift) / scale


def as_vectors(activations: Tensor) -> Tensor:
    """(N, D) vectors from (N, D) or (N, D, height, width) activations: their mean over cells (average pooling)."""
    return activations.mean((2, 3)) if activations.ndim == 4 else activations


def read_classes(path: str | Path | None) -> list[str]:
    """The names in a file, one a line; without a file, ImageNet's 1,000, which torchvision has.

    Raises `InputError` for an empty line, or a file that is not text in UTF-8.
    """
    if path is None:
        return list(models.AlexNet_Weights.IMAGENET1K_V1.meta["categories"])
    try:
        names = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not text in UTF-8 ({error}); save it so.") from error
    if not names or not all(name.strip() for name in names):
        raise InputError(f"{path}: expected one class name in each line, in the order of the network's scores.")
    return names
