"""CLIP's networks of OpenCLIP, by its names: encoders of images and of sentences, and the tokenizers of these."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from torch import Tensor, nn

from densevse.config.declared.libraries import PATCHES, POOLED
from densevse.config.networks import NetworkConfig
from densevse.runtime.errors import InputError
from densevse.vision.architectures.libraries import LibraryNetwork, OfLibrary, filled, made, preprocessing_of


def network(settings: NetworkConfig, weights: str | Path) -> LibraryNetwork:
    """The encoder of images with the weights of a file; its pooled vector is in the space of sentences.

    Raises `InputError` for a name, options or weights that do not fit.
    """
    model: Any = filled(_untrained(settings.architecture, settings.options), settings.architecture, weights)
    visual = model.visual
    layers = {
        POOLED: model.encode_image,
        PATCHES: lambda pixels: visual.forward_intermediates(
            pixels, indices=1, normalize_intermediates=True, output_fmt="NCHW", intermediates_only=True
        )["image_intermediates"][-1],
    }
    transform = image_transform_v2(PreprocessCfg(**visual.preprocess_cfg), is_train=False)
    return LibraryNetwork(settings, OfLibrary(model, layers, 0), preprocessing_of(transform, settings.architecture))


class TextEncoder(nn.Module):
    """Tokens (S, length) to vectors (S, D) in the space of images; `described` is of which network, `size` is D."""

    def __init__(self, described: Mapping[str, Any], weights: str | Path | None = None) -> None:
        """`described` has the network's `architecture` and `options`; `weights` is its file, for its own weights.

        Raises `InputError` for a name, options or weights that do not fit.
        """
        super().__init__()
        self.described = dict(described)
        self.model = _untrained(described["architecture"], described["options"])
        if weights is not None:
            filled(self.model, described["architecture"], weights)
        self.model.visual = nn.Identity()
        self.eval().requires_grad_(False)
        with torch.inference_mode():
            self.size = int(self(Tokenizer(described).tokens([""])[0]).shape[1])

    def forward(self, tokens: Tensor) -> Tensor:
        """(S, length) to (S, D)."""
        vectors: Tensor = self.model.encode_text(tokens)
        return vectors


class Tokenizer:
    """A network's own tokenizer: sentences to tokens, and how many are longer than the network reads."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        """`described` as TextEncoder takes it. Raises `InputError` for a tokenizer that the library must download."""
        _, _, name = described["architecture"].partition(":")
        text = {**_config(described["architecture"]), **described["options"]}.get("text_cfg", {})
        if text.get("hf_tokenizer_name") or "siglip" in name.lower():
            raise InputError(
                f"networks: {described['architecture']} has a tokenizer that is downloaded when a job runs, which jobs "
                "here do not; name a network with CLIP's own, such as open_clip:ViT-B-32."
            )
        self.length = int(text.get("context_length", open_clip.tokenizer.DEFAULT_CONTEXT_LENGTH))
        self._cut = open_clip.SimpleTokenizer(context_length=self.length, **text.get("tokenizer_kwargs", {}))

    def tokens(self, sentences: Sequence[str]) -> tuple[Tensor, int]:
        """(S, length) tokens, cut where there are more, and how many sentences were cut."""
        # One more token than is read tells a sentence that is cut from one that just fits.
        longer = self._cut(list(sentences), context_length=self.length + 1)
        return self._cut(list(sentences)), int((longer[:, -1] != 0).sum())


text_encoder, tokenizer = TextEncoder, Tokenizer


def _config(architecture: str) -> dict[str, Any]:
    found: dict[str, Any] = open_clip.get_model_config(architecture.partition(":")[2]) or {}
    return found


def _untrained(architecture: str, options: Mapping[str, Any]) -> Any:
    """A model with weights of no use. Nothing is downloaded: parts that a library would fetch begin untrained too."""
    with torch.random.fork_rng(devices=[]):
        return made(architecture, open_clip.list_models(), _create, options)


def _create(name: str, **options: Any) -> Any:
    with _without_warnings():
        return open_clip.create_model(
            name, pretrained_image=False, pretrained_text=False, load_weights=False, **options
        )


@contextmanager
def _without_warnings() -> Iterator[None]:
    """The library warns that weights are random; they are read from a file afterwards."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
