"""The structures of sentences that a method may read, one module each.

To add a structure, write a module here and its implementation, densevse/data/structures/<name>.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator

from densevse.config.declared.door import Door


@dataclass(frozen=True)
class DeclaredStructure:
    """A structure of sentences: the facts that the plan needs."""

    parsed: bool = True
    """True if it is read from parses."""
    vocabularies: Mapping[str, str] = field(default_factory=dict)
    """The job's input -> the file of vocabulary/, without .parquet; {dependencies} is replaced by their kind."""
    by_network: bool = False
    """True if the network of a method's views reads the sentence itself: its sentence encoder is not trained, and there
    is no vocabulary."""
    basic: bool = False
    """True if it needs basic dependencies, as enhanced ones are not trees."""


STRUCTURES: Door[DeclaredStructure] = Door("structures", "structure of sentences")
StructureName = Annotated[str, AfterValidator(STRUCTURES.check), STRUCTURES.enum]
