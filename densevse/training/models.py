"""A trained method as a file: safetensors weights, with all that is needed to make the method again."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from densevse.artifacts.files import atomic
from densevse.errors import InputError
from densevse.methods.interface import Method, Shapes
from densevse.methods.registry import method as method_class

KEY = "densevse"  # one key, as the order of several is not defined


def build(name: str, parameters: dict[str, Any], shapes: Shapes) -> Method:
    """A method with its parameters. Raises `InputError` naming a parameter that it does not have or cannot use."""
    try:
        return method_class(name).build(parameters, shapes)
    except (TypeError, ValueError) as error:
        raise InputError(f"method {name} cannot be made of its parameters and the data: {error}") from error


def save_model(method: Method, name: str, path: str | Path, made_from: Mapping[str, Any]) -> None:
    """Write a method's weights; `name` is its name in the registry, `made_from` says what it was trained on."""
    shapes = method.shapes
    described = {
        "method": name,
        "parameters": asdict(method.parameters_of_paper),
        "features": shapes.features,
        "words": shapes.words,
        "word_vectors": None if shapes.word_vectors is None else list(shapes.word_vectors.shape),
        "extra": shapes.extra,
        "made_from": made_from,
    }
    weights = {key: value.detach().cpu().contiguous() for key, value in method.state_dict().items()}
    with atomic(path) as temporary:
        save_file(weights, temporary, {KEY: json.dumps(described, sort_keys=True)})


def load_model(
    path: str | Path, shapes: Shapes | None = None, features: Mapping[str, Mapping[str, Any]] | None = None
) -> Method:
    """Read a trained method, for the data whose `shapes` and `features` (view -> what they were made from) are given.

    Raises `InputError` if the file is missing, truncated, no model, does not fit the data, or was trained on features
    of another network or configuration.
    """
    weights, described = _read(path)
    if features is not None:
        _check_features(path, described["made_from"].get("features", {}), features)
    stored = described["word_vectors"]
    trained = Shapes(
        described["features"], described["words"], None if stored is None else torch.zeros(stored), described["extra"]
    )
    method = build(described["method"], described["parameters"], shapes or trained)
    _fill(method, weights, path)
    return method


def trained_on(path: str | Path) -> str:
    """The kind of device that a model was trained on: cpu or cuda."""
    device: str = _read(path)[1]["made_from"]["device"]
    return device


def load_weights(method: Method, path: str | Path) -> None:
    """Fill a method with a trained one's weights. Raises `InputError` if they do not fit."""
    _fill(method, _read(path)[0], path)


def _read(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (it is no mapping)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Ask snakemake for it by this name to make it.") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: not a whole safetensors file ({error}). Delete it and run snakemake.") from error
    if KEY not in metadata:
        raise InputError(f"{path}: expected a densevse model, found safetensors of another origin. Delete it.")
    return weights, json.loads(metadata[KEY])


def _check_features(path: str | Path, trained: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    for view in sorted(given):
        keys = sorted(trained.get(view, {}).keys() | given[view].keys())
        expected, found = ({key: made_from.get(view, {}).get(key) for key in keys} for made_from in (trained, given))
        if expected != found:
            raise InputError(
                f"{path}: trained on {view} features of another network: expected {expected}, found {found}. Delete "
                "those features or this model, whichever is wrong, and run snakemake again to make it anew."
            )


def _fill(method: Method, weights: Mapping[str, Tensor], path: str | Path) -> None:
    expected = {key: tuple(value.shape) for key, value in method.state_dict().items()}
    found = {key: tuple(value.shape) for key, value in weights.items()}
    for key in sorted(expected.keys() | found.keys()):
        if expected.get(key) != found.get(key):
            raise InputError(
                f"{path}: tensor {key}: expected {expected.get(key, 'none')}, found {found.get(key, 'none')}. The "
                "model is of another configuration or vocabulary; delete it and run snakemake again to train it anew."
            )
    method.load_state_dict(dict(weights))
