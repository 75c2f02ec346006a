"""CLIP's networks of OpenCLIP, by OpenCLIP's names: image encoders, sentence encoders and tokenizers."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
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
from densevse.vision.architectures.libraries import (
    LibraryNetwork,
    OfLibrary,
    WeightsTable,
    add_options,
    as_tuple,
    build_library_model,
    read_configurations,
    read_preprocessor,
    split_tag,
    split_transform,
)
from densevse.vision.networks import load_network_weights
from snakeproof.errors import InputError
from snakeproof.logs import logger

QUICK_GELU = "-quickgelu"
"""The end of the name of a network whose activation is x * sigmoid(1.702 x), as OpenAI's, in place of GELU."""


_PIXELS = ("mean", "std", "interpolation", "resize_mode", "fill_color")


class OpenClipWeights(WeightsTable):
    """OpenCLIP's table: a tag has preprocessing and an activation; a configuration also has the text side."""

    def places(self, name: str) -> dict[str, list[str]]:
        """The repository and address of each tag; the table writes repositories as `<owner>/<name>/<file>`."""
        tags = {tag: open_clip.get_pretrained_cfg(name, tag) for tag in open_clip.list_pretrained_tags_by_model(name)}
        return {tag: [one["hf_hub"].rpartition("/")[0], one["url"]] for tag, one in tags.items()}

    def facts(self, architecture: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The preprocessing of pixels; the tokenizer, its arguments and length; and the activation."""
        model, published = {**_config(architecture), **options}, _tag_options(architecture)
        side = options.get("force_image_size") or model.get("vision_cfg", {}).get("image_size", 224)
        pixels = {"size": side, **published.get("force_preprocess_cfg", {}), **options.get("force_preprocess_cfg", {})}
        text = _text_settings(architecture, options)
        words = {"tokenizer": text.get("hf_tokenizer_name", "CLIP's"), "context_length": _length(text)}
        quick = {"quick_gelu": options.get("quick_gelu", published.get("quick_gelu", model.get("quick_gelu", False)))}
        found = {**asdict(PreprocessCfg()), **pixels, **words, **text.get("tokenizer_kwargs", {}), **quick}
        return {key: as_tuple(value) for key, value in found.items()}

    def own_options(self, architecture: str, told: Mapping[str, Any]) -> dict[str, Any]:
        """`force_preprocess_cfg`, and what open_clip_config.json says of the text side and the activation."""
        config, known = told.get("open_clip_config.json", {}), _config(architecture)
        model, pixels = config.get("model_cfg", {}), config.get("preprocess_cfg", {})
        if model.get("embed_dim", known.get("embed_dim")) != known.get("embed_dim"):
            raise InputError(
                f"networks: open_clip_config.json beside the weights is not of {architecture}, as its "
                f"embed_dim is {model['embed_dim']}; name its network as `architecture`."
            )
        if not pixels and "preprocessor_config.json" in told:
            pixels = read_preprocessor(told["preprocessor_config.json"])
            pixels["resize_mode"] = "shortest" if "resize" in pixels else "squash"
            if pixels.get("resize", pixels.get("crop")) != pixels.get("crop"):
                raise ValueError("OpenCLIP resizes to the side that it crops")
        pixels = {key: as_tuple(pixels[key]) for key in _PIXELS if pixels.get(key) is not None}
        own = {key: model[key] for key in ("quick_gelu", "text_cfg") if key in model and model[key] != known.get(key)}
        if {"hf_model_name", "tokenizer_mode"} & own.get("text_cfg", {}).keys() - known.get("text_cfg", {}).keys():
            raise ValueError(f"its sentences are encoded by a model of transformers, and those of {architecture} not")
        return own | ({"force_preprocess_cfg": pixels} if pixels else {})


TABLE = OpenClipWeights()


def _tag_options(architecture: str) -> dict[str, Any]:
    """What the library's table says of a tag, as options. Raises `ValueError` for an unknown tag."""
    network, tag = split_tag(architecture)
    name = network.partition(":")[2]
    found = open_clip.get_pretrained_cfg(name, tag)
    if tag and not found:
        raise ValueError(f"it has no weights {tag}; known: {', '.join(open_clip.list_pretrained_tags_by_model(name))}")
    quick = {"quick_gelu": True} if found.get("quick_gelu") else {}
    return {"force_preprocess_cfg": {key: found[key] for key in _PIXELS if key in found}, **quick}


def network(settings: NetworkSettings, weights: str | Path) -> LibraryNetwork:
    """The image encoder with the weights of a file; its pooled vector is in the space of sentences.

    Raises `InputError` if the name, options or weights do not fit.
    """
    settings = settings.model_copy(update=TABLE.resolve(settings.architecture, settings.options, Path(weights)))
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

        Its `tokenizer`, if any, has what `read_tokenizer_config` returns, and the `file` or, where a model is loaded,
        the number of `bytes`. Raises `InputError` if the name, options, weights or tokenizer do not fit.
        """
        super().__init__()
        self.described = dict(described)
        if weights is not None:
            self.described |= TABLE.resolve(described["architecture"], described["options"], Path(weights))
        length = _length(_text_config(self.described))
        if "tokenizer" in described:
            self._take_tokenizer(described["tokenizer"])
        self.model = _untrained_model(self.described["architecture"], self.described["options"])
        if weights is not None:
            load_network_weights(self.model, self.described["architecture"], weights)
        self.model.visual = nn.Identity()
        self.eval().requires_grad_(False)
        with torch.inference_mode():
            self.size = int(self(torch.zeros(1, length, dtype=torch.long)).shape[1])

    def _take_tokenizer(self, given: Mapping[str, Any]) -> None:
        facts = {name: value for name, value in given.items() if name not in ("file", "bytes")}
        if "file" in given:
            data = Path(given["file"]).read_bytes()
            facts = {**read_tokenizer_config(Path(given["file"])), **facts}
            _parse_tokenizer(data, given["file"], facts)
            content = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        else:
            content = torch.zeros(given["bytes"], dtype=torch.uint8)
        self.register_buffer("tokenizer", content)
        self.described["tokenizer"] = {"bytes": len(content), **facts}

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
            facts, options = described["tokenizer"], text.get("tokenizer_kwargs", {})
            found = _parse_tokenizer(data, described["model"], facts)
            found.enable_truncation(self.length, direction=facts.get("truncation_side", "right"))
            found.enable_padding(
                length=self.length,
                direction=facts.get("padding_side", "right"),
                pad_id=found.token_to_id(facts["pad"]),
                pad_token=facts["pad"],
            )
            emptied = found.token_to_id(facts.get("sep", _SEP)) if options.get("strip_sep_token") else None
            self._cut = partial(_cut_by_file, found, get_clean_fn(options.get("clean", "whitespace")), emptied)
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
    tokenizer: Any, clean: Callable[[str], str], emptied: int | None, sentences: list[str]
) -> tuple[Tensor, int]:
    """Tokens by a tokenizer of a file; of CLIPA's, the token that ends a sentence is `emptied`, so it becomes 0."""
    found = tokenizer.encode_batch([clean(sentence) for sentence in sentences])
    tokens = torch.tensor([one.ids for one in found])
    if emptied is not None:
        tokens = tokens.masked_fill(tokens == emptied, 0)
    return tokens, sum(bool(one.overflowing) for one in found)


_PAD, _SEP = "<pad>", "[SEP]"


def read_tokenizer_config(file: Path) -> dict[str, Any]:
    """What tokenizer_config.json beside a file tokenizer.json says: `pad`, and of the rest what is not usual.

    These are the token `sep`, `padding_side`, `truncation_side` and, of BERT's, `do_lower_case`. Raises `InputError`
    if it is no mapping in JSON.
    """
    told = read_configurations(file.parent, ["tokenizer_config.json"]).get("tokenizer_config.json", {})
    kind = str(told.get("tokenizer_class", ""))
    tokens = {name: told.get(f"{name}_token") for name in ("pad", "sep")}
    found = {name: one["content"] if isinstance(one, Mapping) else one for name, one in tokens.items()}
    found |= {name: told.get(name) for name in ("padding_side", "truncation_side")}
    if kind.startswith("Gemma") and not found["padding_side"]:
        found["padding_side"] = "left"  # as transformers' class has it
    if kind.startswith("Bert"):
        found["do_lower_case"] = told.get("do_lower_case")
    usual = {"sep": _SEP, "padding_side": "right", "truncation_side": "right"}
    return {"pad": _PAD} | {key: one for key, one in found.items() if one is not None and one != usual.get(key)}


def _parse_tokenizer(data: bytes, file: str, facts: Mapping[str, Any]) -> Any:
    """A tokenizer of the library tokenizers. Raises `InputError` if the file is none, or has no token `pad`."""
    from tokenizers import Tokenizer as OfFile
    from tokenizers.normalizers import BertNormalizer

    try:
        found = OfFile.from_buffer(data)
    except Exception as error:  # the library, which is written in Rust, has no exceptions of its own
        raise InputError(f"{file}: not a tokenizer ({error}); name the file tokenizer.json.") from error
    if found.token_to_id(facts["pad"]) is None:
        raise InputError(f"{file}: it has no token {facts['pad']!r}; name the one that fills up sentences as `pad`.")
    if "do_lower_case" in facts:
        found.normalizer = BertNormalizer(lowercase=facts["do_lower_case"])
    return found


text_encoder, tokenizer = TextEncoder, Tokenizer


def _text_config(described: Mapping[str, Any]) -> dict[str, Any]:
    found = _text_settings(described["architecture"], described["options"])
    if found.get("hf_model_name") or found.get("tokenizer_mode"):
        raise InputError(
            f"networks: {described['architecture']} encodes sentences by a model of transformers, which must be "
            "downloaded, and jobs do not download; name a network with an encoder of open_clip's own."
        )
    return found


def _text_settings(architecture: str, options: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {**_config(architecture), **options}.get("text_cfg", {})
    length = options.get("force_context_length")
    return {**found, "context_length": length} if length else found


def _length(text: Mapping[str, Any]) -> int:
    return int(text.get("context_length", open_clip.tokenizer.DEFAULT_CONTEXT_LENGTH))


def _config(architecture: str) -> dict[str, Any]:
    found: dict[str, Any] = open_clip.get_model_config(split_tag(architecture)[0].partition(":")[2]) or {}
    return found


def _untrained_model(architecture: str, options: Mapping[str, Any]) -> Any:
    """A model with random weights. Nothing is downloaded: parts that the library would fetch are random too."""
    with torch.random.fork_rng(devices=[]):
        return build_library_model(architecture, open_clip.list_models(), _create, options)


def _create(name: str, **options: Any) -> Any:
    known = add_options(_tag_options(f"open_clip:{name}"), options)
    with _silence_warnings():
        return open_clip.create_model(
            split_tag(name)[0], pretrained_image=False, pretrained_text=False, load_weights=False, **known
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
