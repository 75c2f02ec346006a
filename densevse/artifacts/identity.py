"""Identity: the data set, variant, seed, round, protocol and split of an artifact."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakeproof.errors import InputError
from snakeproof.statements import read_statement

MAKERS = ("variant", "ensemble", "generator", "writer", "proposer")
"""Wildcards that name the variant of an identity."""


@dataclass(frozen=True)
class Identity:
    """The identity of an artifact; fields that do not apply are None."""

    dataset: str
    variant: str | None = None  # or the ensemble, the proposer, or the writer of sentences
    seed: int | None = None
    round: int | None = None
    protocol: str | None = None
    split: str | None = None

    @classmethod
    def from_wildcards(cls, wildcards: Any, **others: str | int) -> "Identity":
        """From a rule's wildcards and further values."""
        names = {**dict(wildcards.items()), **others}
        found: dict[str, Any] = {name: names[name] for name in ("dataset", "protocol", "split") if name in names}
        found |= {name: int(names[name]) for name in ("seed", "round") if name in names}
        return cls(**found, variant=next((names[name] for name in MAKERS if name in names), None))

    def values(self) -> dict[str, Any]:
        """The fields that apply to the artifact, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.values().items())


def read_identity(path: str | Path) -> Identity:
    """The identity in an artifact's statement: the wildcards of its job, and what that found.

    Raises `InputError` if it names no data set.
    """
    names = read_statement(path).names
    if "dataset" not in names:
        raise InputError(f"{path} does not name its data set and variant. Delete it and run snakemake again.")
    return Identity.from_wildcards(names)
