"""The structures of sentences, one module each, found by the name that a method's configuration lists.

To add a structure, write a module here that assigns its class to STRUCTURE, and an entry of the same name in the table
STRUCTURES of densevse/config/registries.py. A method gets a batch of it as a dataclass or a tensor.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densevse.data.files import Artifacts
from densevse.runtime.arrays import Indices
from snakeproof.errors import InputError


class Structure(ABC):
    """One structure of all sentences of a split, in their order; `cut` of them are longer than a network reads."""

    cut = 0

    @classmethod
    @abstractmethod
    def read(cls, artifacts: Artifacts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads the structure of the sentences `caption_ids`. Raises `InputError` that names one that has none."""

    @classmethod
    def sizes(cls, artifacts: Artifacts) -> dict[str, int]:
        """The sizes of vocabularies that only this structure has; `Shapes.sizes` takes them."""
        return {}

    @abstractmethod
    def take(self, sentences: Indices) -> Any:
        """A batch of some sentences; densevse/methods/structures.py has the dataclasses of the papers."""

    def contents(self, sentences: int) -> Iterable[Any]:
        """Of each of all `sentences` what makes two of them equal, by default what `take` gives of it alone."""
        return (self.take(np.array([sentence])) for sentence in range(sentences))


def structure_class(name: str) -> type[Structure]:
    """The structure of that name. Raises `InputError` if no module here has it."""
    try:
        found: type[Structure] = import_module(f"{__name__}.{name}").STRUCTURE
    except ModuleNotFoundError as error:
        raise InputError(f"densevse/data/structures has no module for the structure {name!r}.") from error
    return found
