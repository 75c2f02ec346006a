"""CLIP's networks of OpenCLIP, by OpenCLIP's names: image encoders, sentence encoders and tokenizers."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import open_clip
import torch
from open_clip.tokenizer import get_clean_fn
from open_clip.transform import PreprocessCfg, image_transform_v2
from safetensors import safe_open
from torch import Tensor, nn

from densevse.config.networks import NetworkSettings
from densevse.config.registries import PATCHES, POOLED
from densevse.vision.architectures.libraries import LibraryNetwork, OfLibrary, build_library_model, split_transform
from densevse.vision.networks import load_network_weights
from snakeproof.errors import InputError
from snakeproof.logs import logger

QUICK_GELU = "-quickgelu"
"""The end of the name of a network whose activation is x * sigmoid(1.702 x), as OpenAI's, in place of GELU."""


def network(settings: NetworkSettings, weights: str | Path) -> LibraryNetwork:
    """The image encoder with the weights of a file; its pooled vector is in the space of sentences.

    Raises `InputError` if the name, options or weights do not fit.
    """
    _check_activation(settings.architecture)
    model: Any = load_network_weights(
        _untrained_model(settings.architecture, settings.options), settings.architecture, weights
    )
    visual = model.visual
    layers = {
        POOLED: model.encode_image,
        PATCHES: lambda pixels: visual.forward_intermediates(
            pixels, indices=1, normalize_intermediates=True, output_fmt="NCHW", intermediates_only=True
        )["image_intermediates"][-1],
    }
    transform = image_transform_v2(PreprocessCfg(**visual.preprocess_cfg), is_train=False)
    return LibraryNetwork(settings, OfLibrary(model, layers, 0), split_transform(transform, settings.architecture))


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
    """Encodes tokens (S, length) as vectors (S, D) in the space of images; `described` is the network, `size` D.

    A tokenizer that the library does not have is a part of the module: the bytes of its file.
    """

    tokenizer: Tensor  # (bytes,) uint8

    def __init__(self, described: Mapping[str, Any], weights: str | Path | None = None) -> None:
        """`described` has the network's `architecture` and `options`; `weights` is its file, for its own weights.

        Its `tokenizer`, if any, has the token `pad`, and the `file` or, where a model is loaded, the number of `bytes`.
        Raises `InputError` if the name, options, weights or tokenizer do not fit.
        """
        super().__init__()
        self.described, length = dict(described), _length(_text_config(described))
        if "tokenizer" in described:
            self._take_tokenizer(described["tokenizer"])
        self.model = _untrained_model(described["architecture"], described["options"])
        if weights is not None:
            load_network_weights(self.model, described["architecture"], weights)
        self.model.visual = nn.Identity()
        self.eval().requires_grad_(False)
        with torch.inference_mode():
            self.size = int(self(torch.zeros(1, length, dtype=torch.long)).shape[1])

    def _take_tokenizer(self, given: Mapping[str, Any]) -> None:
        if "file" in given:
            data = Path(given["file"]).read_bytes()
            _parse_tokenizer(data, given["file"], given["pad"])
            content = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        else:
            content = torch.zeros(given["bytes"], dtype=torch.uint8)
        self.register_buffer("tokenizer", content)
        self.described["tokenizer"] = {"bytes": len(content), "pad": given["pad"]}

    def forward(self, tokens: Tensor) -> Tensor:
        """(S, length) to (S, D)."""
        vectors: Tensor = self.model.encode_text(tokens)
        return vectors


class Tokenizer:
    """A network's tokenizer: cuts sentences into tokens, and counts those longer than the network reads."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        """Takes `described` as TextEncoder does, with the file `model` of the module if that has the tokenizer.

        Raises `InputError` if the library would download the tokenizer.
        """
        text, architecture = _text_config(described), described["architecture"]
        self.length = _length(text)
        if "tokenizer" in described:
            with safe_open(described["model"], "np") as weights:
                data = weights.get_tensor("text_encoder.tokenizer").tobytes()
            pad = described["tokenizer"]["pad"]
            clean = get_clean_fn(text.get("tokenizer_kwargs", {}).get("clean", "whitespace"))
            self._cut = partial(_cut_by_file, _parse_tokenizer(data, described["model"], pad), pad, clean, self.length)
        elif text.get("hf_tokenizer_name") or "siglip" in architecture.lower():
            raise InputError(
                f"networks: {architecture} does not use CLIP's tokenizer; name the file tokenizer.json of "
                f"{text.get('hf_tokenizer_name') or 'its repository'} as `tokenizer` of the network."
            )
        else:
            own = open_clip.SimpleTokenizer(context_length=self.length, **text.get("tokenizer_kwargs", {}))
            self._cut = partial(_cut_by_clip, own, self.length)

    def tokens(self, sentences: Sequence[str]) -> tuple[Tensor, int]:
        """(S, length) tokens, cut at the length that the network reads, and the number of sentences cut."""
        return self._cut(list(sentences))


def _cut_by_clip(tokenizer: Any, length: int, sentences: list[str]) -> tuple[Tensor, int]:
    # One token more than the network reads shows whether a sentence is cut or just fits.
    longer = tokenizer(sentences, context_length=length + 1)
    return tokenizer(sentences), int((longer[:, -1] != 0).sum())


def _cut_by_file(
    tokenizer: Any, pad: str, clean: Callable[[str], str], length: int, sentences: list[str]
) -> tuple[Tensor, int]:
    tokenizer.enable_truncation(length)
    tokenizer.enable_padding(length=length, pad_id=tokenizer.token_to_id(pad), pad_token=pad)
    found = tokenizer.encode_batch([clean(sentence) for sentence in sentences])
    return torch.tensor([one.ids for one in found]), sum(bool(one.overflowing) for one in found)


def _parse_tokenizer(data: bytes, file: str, pad: str) -> Any:
    """A tokenizer of the library tokenizers. Raises `InputError` if the file is none, or has no token `pad`."""
    from tokenizers import Tokenizer as OfFile

    try:
        found = OfFile.from_buffer(data)
    except Exception as error:  # the library, which is written in Rust, has no exceptions of its own
        raise InputError(f"{file}: not a tokenizer ({error}); name the file tokenizer.json.") from error
    if found.token_to_id(pad) is None:
        raise InputError(f"{file}: it has no token {pad!r}; name the one that fills up sentences as `pad`.")
    return found


text_encoder, tokenizer = TextEncoder, Tokenizer


def _text_config(described: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {**_config(described["architecture"]), **described["options"]}.get("text_cfg", {})
    if found.get("hf_model_name") or found.get("tokenizer_mode"):
        raise InputError(
            f"networks: {described['architecture']} encodes sentences by a model of transformers, which must be "
            "downloaded, and jobs do not download; name a network with an encoder of open_clip's own."
        )
    return found


def _length(text: Mapping[str, Any]) -> int:
    return int(text.get("context_length", open_clip.tokenizer.DEFAULT_CONTEXT_LENGTH))


def _config(architecture: str) -> dict[str, Any]:
    found: dict[str, Any] = open_clip.get_model_config(architecture.partition(":")[2]) or {}
    return found


def _untrained_model(architecture: str, options: Mapping[str, Any]) -> Any:
    """A model with random weights. Nothing is downloaded: parts that the library would fetch are random too."""
    with torch.random.fork_rng(devices=[]):
        return build_library_model(architecture, open_clip.list_models(), _create, options)


def _create(name: str, **options: Any) -> Any:
    with _silence_warnings():
        return open_clip.create_model(
            name, pretrained_image=False, pretrained_text=False, load_weights=False, **options
        )


@contextmanager
def _silence_warnings() -> Iterator[None]:
    """Silences the library's warning that weights are random, as a file replaces them afterwards."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
