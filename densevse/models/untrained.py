"""Models without training: a network's own encoder of sentences, used with its features of images."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from densevse.methods.interface import Shapes
from densevse.models.files import UNTRAINED, build_method, save_model, text_encoder
from densevse.runtime.numerics import set_up_processor
from snakeproof.files import checksum


def write_untrained_model(
    method: str,
    parameters: Mapping[str, Any],
    networks: Mapping[str, Mapping[str, Any]],
    weights: str | Path,
    output: str | Path,
    threads: int,
    tokenizer: str | None = None,
    pad: str = "",
    tokenizer_options: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """The job that writes the model of a method that reads the structure text, in the format of trained models.

    `networks` has one network for each view: its name (`network`), `architecture` and `options`. A file `tokenizer`,
    with the token `pad` and further `tokenizer_options`, becomes a part of the model. Raises `InputError` if a network
    encodes no sentences, or if `weights` or the tokenizer do not fit.
    """
    set_up_processor(threads)
    (network,) = {one["network"]: one for one in networks.values()}.values()
    described = {name: network[name] for name in ("architecture", "options")}
    own = {"tokenizer": {"file": tokenizer, "pad": pad, **tokenizer_options}} if tokenizer else {}
    encoder: Any = text_encoder(described | own, weights)
    shapes = Shapes(dict.fromkeys(networks, encoder.size), 0, text_encoder=encoder)
    seen_by = {view: {**one, "weights_sha256": checksum(weights)} for view, one in networks.items()}
    found = {UNTRAINED: True, "device": "cpu", "features": seen_by}
    save_model(build_method(method, parameters, shapes), method, ["text"], output, **found)
