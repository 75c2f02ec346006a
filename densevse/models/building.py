"""Builds methods and generators by their names, with the networks that are a part of them."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from torch import nn

from densevse.config.registries import library_of
from densevse.config.strict import Strict, validate
from densevse.data.inputs import Inputs
from densevse.methods.generators.interface import CONTENT, Generator
from densevse.methods.interface import Method, Shapes
from densevse.runtime.errors import InputError

TEXT_ENCODER = "text_encoder"
"""The key with the network whose sentence encoder a model is: its architecture and options."""
TRAINED_NETWORK = "trained_network"  # key of a network that was trained with a model; `network` is a name elsewhere


def method_class(name: str) -> type[Method]:
    """The method of densevse/methods/<name>.py. Raises `InputError` if there is no such method."""
    try:
        found: type[Method] = import_module(f"densevse.methods.{name}").METHOD
    except (ModuleNotFoundError, AttributeError) as error:
        raise InputError(f"no method {name!r}: densevse/methods/{name}.py must define METHOD ({error}).") from error
    return found


def parameters_of(name: str, values: Mapping[str, Any]) -> Strict:
    """The parameters of a method from its configuration. Raises `InputError` that names each invalid one."""
    kind: type[Strict] = import_module(f"densevse.methods.parameters.{name}").Parameters
    return validate(kind, dict(values), f"parameters of the method {name}")


def build(name: str, parameters: Mapping[str, Any], shapes: Shapes) -> Method:
    """Builds a method with its parameters. Raises `InputError` that names an unknown or unusable parameter."""
    kind, values = method_class(name), parameters_of(name, parameters)
    try:
        return kind(values, shapes)
    except ValueError as error:
        raise InputError(f"cannot build the method {name} from its parameters and the data: {error}") from error


def generator_shapes(inputs: Inputs, content: int) -> Shapes:
    """The sizes that the data gives a generator; `content` is the length of a content vector."""
    shapes = inputs.shapes()
    return Shapes({CONTENT: content}, shapes.words, sizes=shapes.sizes)


def build_generator(name: str, parameters: Mapping[str, Any], shapes: Shapes) -> Generator:
    """A generator with its parameters; `name` is `generators.<model>`. Raises `InputError` as `build` does."""
    return cast(Generator, build(name, parameters, shapes))


def with_networks(shapes: Shapes, described: Mapping[str, Any]) -> Shapes:
    """The shapes with the networks that are a part of a model, before the model's weights are loaded."""
    # Imported by name, so that only jobs of such models depend on their code: see densevse.dag.training.
    if TRAINED_NETWORK in described:
        finetuned = import_module("densevse.vision.finetuned").FineTuned
        shapes = replace(shapes, network=finetuned.untrained(described[TRAINED_NETWORK]))
    if TEXT_ENCODER in described:
        shapes = replace(shapes, text_encoder=text_encoder(described[TEXT_ENCODER]))
    return shapes


def text_encoder(network: Mapping[str, Any], weights: str | Path | None = None) -> nn.Module:
    """The sentence encoder of a network (its architecture and options), with `weights` from its file if given.

    Raises `InputError` if the network has none, or if the weights do not fit.
    """
    library = library_of(network["architecture"])
    if library is None or not library.has_text:
        raise InputError(f"networks: {network['architecture']} encodes no sentences; name a network of open_clip.")
    encoder: nn.Module = import_module(library.implementation).text_encoder(network, weights)
    return encoder
