"""CLIP's networks of OpenCLIP, by OpenCLIP's names: image encoders, sentence encoders and tokenizers."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from torch import Tensor, nn

from densevse.config.networks import NetworkSettings
from densevse.config.registries import PATCHES, POOLED
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger
from densevse.vision.architectures.libraries import LibraryNetwork, OfLibrary, made, preprocessing_of
from densevse.vision.networks import with_weights

QUICK_GELU = "-quickgelu"
"""The end of the name of a network whose activation is x * sigmoid(1.702 x), as OpenAI's, in place of GELU."""


def network(settings: NetworkSettings, weights: str | Path) -> LibraryNetwork:
    """The image encoder with the weights of a file; its pooled vector is in the space of sentences.

    Raises `InputError` if the name, options or weights do not fit.
    """
    _check_activation(settings.architecture)
    model: Any = with_weights(_untrained(settings.architecture, settings.options), settings.architecture, weights)
    visual = model.visual
    layers = {
        POOLED: model.encode_image,
        PATCHES: lambda pixels: visual.forward_intermediates(
            pixels, indices=1, normalize_intermediates=True, output_fmt="NCHW", intermediates_only=True
        )["image_intermediates"][-1],
    }
    transform = image_transform_v2(PreprocessCfg(**visual.preprocess_cfg), is_train=False)
    return LibraryNetwork(settings, OfLibrary(model, layers, 0), preprocessing_of(transform, settings.architecture))


def _check_activation(architecture: str) -> None:
    """Warns if the same weights also fit a network with another activation, which gives other vectors."""
    other = f"{architecture}{QUICK_GELU}"
    if other.partition(":")[2] in open_clip.list_models():
        logger.warning(
            "networks: the weights of %s also fit %s, and give other vectors there. OpenAI's own weights, and those "
            "that start from them, need the latter.",
            architecture,
            other,
        )


class TextEncoder(nn.Module):
    """Encodes tokens (S, length) as vectors (S, D) in the space of images; `described` is the network, `size` D."""

    def __init__(self, described: Mapping[str, Any], weights: str | Path | None = None) -> None:
        """`described` has the network's `architecture` and `options`; `weights` is its file, for its own weights.

        Raises `InputError` if the name, options or weights do not fit.
        """
        super().__init__()
        self.described = dict(described)
        self.model = _untrained(described["architecture"], described["options"])
        if weights is not None:
            with_weights(self.model, described["architecture"], weights)
        self.model.visual = nn.Identity()
        self.eval().requires_grad_(False)
        with torch.inference_mode():
            self.size = int(self(Tokenizer(described).tokens([""])[0]).shape[1])

    def forward(self, tokens: Tensor) -> Tensor:
        """(S, length) to (S, D)."""
        vectors: Tensor = self.model.encode_text(tokens)
        return vectors


class Tokenizer:
    """A network's tokenizer: cuts sentences into tokens, and counts those longer than the network reads."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        """Takes `described` as TextEncoder does. Raises `InputError` if the library must download the tokenizer."""
        _, _, name = described["architecture"].partition(":")
        text = {**_config(described["architecture"]), **described["options"]}.get("text_cfg", {})
        if text.get("hf_tokenizer_name") or "siglip" in name.lower():
            raise InputError(
                f"networks: {described['architecture']} has a tokenizer that must be downloaded, and jobs do not "
                "download; name a network with CLIP's tokenizer, such as open_clip:ViT-B-32."
            )
        self.length = int(text.get("context_length", open_clip.tokenizer.DEFAULT_CONTEXT_LENGTH))
        self._cut = open_clip.SimpleTokenizer(context_length=self.length, **text.get("tokenizer_kwargs", {}))

    def tokens(self, sentences: Sequence[str]) -> tuple[Tensor, int]:
        """(S, length) tokens, cut at the length that the network reads, and the number of sentences cut."""
        # One token more than the network reads shows whether a sentence is cut or just fits.
        longer = self._cut(list(sentences), context_length=self.length + 1)
        return self._cut(list(sentences)), int((longer[:, -1] != 0).sum())


text_encoder, tokenizer = TextEncoder, Tokenizer


def _config(architecture: str) -> dict[str, Any]:
    found: dict[str, Any] = open_clip.get_model_config(architecture.partition(":")[2]) or {}
    return found


def _untrained(architecture: str, options: Mapping[str, Any]) -> Any:
    """A model with random weights. Nothing is downloaded: parts that the library would fetch are random too."""
    with torch.random.fork_rng(devices=[]):
        return made(architecture, open_clip.list_models(), _create, options)


def _create(name: str, **options: Any) -> Any:
    with _without_warnings():
        return open_clip.create_model(
            name, pretrained_image=False, pretrained_text=False, load_weights=False, **options
        )


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Silences the library's warning that weights are random, as a file replaces them afterwards."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
