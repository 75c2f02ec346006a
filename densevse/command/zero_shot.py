"""Measures a network of OpenCLIP or an encoder in a folder on a data set: the workflow's jobs of one row of a table."""

import hashlib
import json
import re
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.command.shared import check_name, configuration, make_targets, overrides, write_own_configuration
from densevse.config.model_folders import has_several_vectors
from densevse.config.networks import NetworkConfig
from densevse.config.resolved import Override
from densevse.evaluation.given.measure import retrieval_metrics
from densevse.evaluation.given.results import ENGLISH, EvaluatedModel
from densevse.evaluation.protocols import select_split
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.strict import validate

_METHOD = "clip"
"""The method of config/methods without training."""
_BY_FOLDER = "sentence_transformers"
"""The library whose networks are folders."""


class _Row(NamedTuple):
    """The row: a variant on a data set, and the files that configure it."""

    variant: str
    dataset: str
    files: list[str]
    ranked: str  # the file of its ranks, in the folder of its seed


def evaluate_zero_shot(arguments: Namespace) -> tuple[EvaluatedModel, dict[str, float]]:
    """The network that the arguments name, and its metrics on the test split of their data set.

    Raises `InputError` that names a wrong argument, or if a job fails.
    """
    row = _configure_row(arguments)
    config = configuration(overrides(row.files))
    entry, folder = config.datasets[row.dataset], f"{config.results}/{row.dataset}"
    ranks = f"{folder}/retrieval/{arguments.protocol}/{row.variant}/{row.ranked.format(seed=entry.seeds[0])}"
    if not make_targets([ranks], row.files, arguments.cores or "all"):
        raise InputError(f"--model: a job of {arguments.model} on {row.dataset} failed; its message is above.")
    tables = schema.read(f"{folder}/images.parquet", IMAGES), schema.read(f"{folder}/captions.parquet", CAPTIONS)
    test_set = select_split(*tables, sentences=entry.sentences)
    found = retrieval_metrics(schema.read(ranks, RETRIEVAL), test_set, arguments.intervals)
    language = arguments.language or entry.language or ENGLISH
    return EvaluatedModel(arguments.model, Path(arguments.weights or "").name, row.dataset, language), found


def _configure_row(arguments: Namespace) -> _Row:
    """Writes the configuration of the row. Raises `InputError` that names the wrong argument."""
    dataset, networks = _read_data_set(arguments.data)
    network = {} if _is_named(arguments, networks) else _network(arguments)
    folder = _folder(arguments.model, networks)
    name = _name(arguments.model, {**network, "similarity": arguments.similarity} if folder else network)
    whole = {"whole": name if network else arguments.model}
    row: dict[str, Any] = {_METHOD: {"variants": {name: {"title": arguments.model, "networks": whole}}}}
    if folder:
        similarity = arguments.similarity or ("max_sum" if has_several_vectors(folder) else "cosine")
        row = {name: {"title": arguments.model, "given": {"network": whole["whole"], "similarity": similarity}}}
    values = {
        "networks": {name: network} if network else {},
        "methods": row,
        "datasets": {dataset: {"networks": whole}},  # which a data set must name, and no other is read here
    }
    ranked = "seed0/given.parquet" if folder else "seed{seed}/round0.parquet"
    return _Row(name, dataset, [arguments.data, write_own_configuration(f"{name}-{dataset}", values)], ranked)


def _folder(model: str, networks: Mapping[str, NetworkConfig]) -> str | None:
    """The folder of an encoder, by its name or as --model writes it; None for other networks."""
    library, _, folder = model.partition(":")
    return networks[model].folder if model in networks else folder if library == _BY_FOLDER else None


def _name(model: str, network: Mapping[str, Any]) -> str:
    """The name of the row in paths: that of the model, and a digest of its files."""
    words = re.sub(r"[^\w-]+", "-", model.partition(":")[2] or model)[:40]
    return f"command-{words}-{hashlib.sha256(json.dumps([model, network]).encode()).hexdigest()[:8]}"


def _read_data_set(data: str | None) -> tuple[str, Mapping[str, NetworkConfig]]:
    """The name of the data set in a file, and the networks that the configuration has with it.

    Raises `InputError` unless it has one data set.
    """
    if data is None or not Path(data).is_file():
        there = "" if data is None else f"{data} is not there; "
        raise InputError(f"--data: {there}name a YAML file with a data set, as docs/data_sets.md shows.")
    files = overrides([data], "--data")
    names = list(files[-1].values.get("datasets") or {})
    if len(names) != 1:
        raise InputError(f"--data: {data} must have one entry below `datasets`, not {len(names)}: {', '.join(names)}.")
    networks = Override("--data", {"datasets": {names[0]: {"networks": {}}}})
    return names[0], configuration([*files, networks]).networks


def _is_named(arguments: Namespace, networks: Mapping[str, NetworkConfig]) -> bool:
    """True if --model is the name of a network of the configuration.

    Raises `InputError` for one that encodes no sentences, or that is given other files.
    """
    if ":" in arguments.model:
        return False
    check_name("network", arguments.model, list(networks))
    _check_encodes_sentences(networks[arguments.model])
    given = [f"--{key}" for key in ("weights", "tokenizer", "pad") if getattr(arguments, key)]
    if given:
        raise InputError(
            f"--model: the configuration names the files of {arguments.model}; leave out {' and '.join(given)}, or "
            "write open_clip:<name>."
        )
    return True


def _network(arguments: Namespace) -> dict[str, Any]:
    """The entry of a network of OpenCLIP with files of the user's, or of a folder.

    Raises `InputError` that names what is wrong.
    """
    if arguments.model.startswith(f"{_BY_FOLDER}:"):
        given = [f"--{key}" for key in ("weights", "tokenizer", "pad") if getattr(arguments, key)]
        if given:
            raise InputError(f"{given[0]}: the folder of --model has everything; leave {' and '.join(given)} out.")
        entry = {"architecture": arguments.model, "layers": {"whole": "pooled"}}
        has_several_vectors(validate(NetworkConfig, entry, f"--model {arguments.model}").folder or "")
        return entry
    if arguments.weights is None:
        raise InputError(
            f"--weights: name the file of {arguments.model}'s weights. Weights of a hub are those of a network in "
            "--data (docs/networks.md), whose name --model then is."
        )
    if arguments.pad and not arguments.tokenizer:
        raise InputError("--pad: it is a token of a --tokenizer; name its file, or leave --pad out.")
    for key in ("weights", "tokenizer"):
        path = getattr(arguments, key)
        if path and not Path(path).is_file():
            raise InputError(f"--{key}: {path} is not there; correct the path.")
    entry = {"architecture": arguments.model, "local": arguments.weights, "layers": {"whole": "pooled"}}
    entry["dtype"] = "float32"
    if arguments.tokenizer:
        entry["tokenizer"] = {"local": arguments.tokenizer} | ({"pad": arguments.pad} if arguments.pad else {})
    _check_encodes_sentences(validate(NetworkConfig, entry, f"--model {arguments.model}"))
    return entry


def _check_encodes_sentences(network: NetworkConfig) -> None:
    if network.folder is None and (network.library is None or not network.library.has_text):
        raise InputError(
            f"--model: {network.architecture} encodes no sentences; name a network of open_clip, such as "
            "open_clip:ViT-B-32, or sentence_transformers:<folder>."
        )
