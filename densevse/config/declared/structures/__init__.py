"""The structures of sentences that a method may read, a module for each.

A new structure is a module here and its implementation, densevse/data/structures/<name>.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator

from densevse.config.declared.door import Door


@dataclass(frozen=True)
class DeclaredStructure:
    """A structure of sentences, as far as the plan must know it."""

    parsed: bool = True
    """It is read from parses."""
    vocabularies: Mapping[str, str] = field(default_factory=dict)
    """The job's input -> the file of vocabulary/, without .parquet; {dependencies} stands for their kind."""
    by_network: bool = False
    """It is what the network of a method's views reads of the sentence itself: its encoder of sentences is not trained,
    and no vocabulary is known."""
    basic: bool = False
    """It needs basic dependencies: enhanced ones are no trees."""


STRUCTURES: Door[DeclaredStructure] = Door("structures", "structure of sentences")
StructureName = Annotated[str, AfterValidator(STRUCTURES.check), STRUCTURES.enum]
