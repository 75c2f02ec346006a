"""What a parser says about a sentence; every parser gives this, whatever it is inside."""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

OK = "ok"


class Dependency(NamedTuple):
    """A typed dependency between two tokens, numbered from 0; the governor of the sentence's root is -1."""

    relation: str
    governor: int
    dependent: int


@dataclass(frozen=True)
class Parse:
    """A sentence as a parser read it, or why it could not be parsed (`status`, with everything else empty)."""

    status: str = OK
    tokens: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)  # a lemma a token
    tags: list[str] = field(default_factory=list)  # a Penn Treebank tag a token
    tree: str = ""  # Penn bracket notation; brackets in words are -LRB- and -RRB-
    basic_dependencies: list[Dependency] = field(default_factory=list)
    enhanced_dependencies: list[Dependency] = field(default_factory=list)

    @classmethod
    def failed(cls, reason: str) -> Self:
        """A sentence that could not be parsed, with the reason."""
        return cls(status=reason)


class Parser(Protocol):
    """Something that parses sentences."""

    def parse(self, texts: list[str]) -> list[Parse]:
        """Parse each text as one sentence; the results are in the order of the texts."""
        ...
