"""Builds generators by name and loads trained ones, as models.py does for methods."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from densevse.data.inputs import Inputs
from densevse.inference.models import build, load_model
from densevse.methods.generators.interface import CONTENT, Generator
from densevse.methods.interface import Shapes


def generator_shapes(inputs: Inputs, content: int) -> Shapes:
    """The sizes that the data gives a generator; `content` is the length of a content vector."""
    shapes = inputs.shapes()
    return Shapes({CONTENT: content}, shapes.words, sizes=shapes.sizes)


def build_generator(name: str, parameters: Mapping[str, Any], shapes: Shapes) -> Generator:
    """A generator with its parameters; `name` is `generators.<model>`. Raises `InputError` as `build` does."""
    return cast(Generator, build(name, parameters, shapes))


def load_generator(path: str | Path, inputs: Inputs, content: int) -> Generator:
    """Reads a trained generator, for a data set's artifacts. Raises `InputError` as `load_model` does."""
    return cast(Generator, load_model(path, generator_shapes(inputs, content), inputs.features_made_from()))
