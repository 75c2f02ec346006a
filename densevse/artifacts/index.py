"""Finds artifacts by their identities, regardless of their paths and order."""

from collections.abc import Iterable
from pathlib import Path

from densevse.artifacts.identity import Identity, read_identity
from snakeproof.errors import InputError
from snakeproof.schema import Schema, check


class ArtifactIndex:
    """Artifacts of one kind, by identity."""

    def __init__(self, paths: Iterable[str | Path], kind: Schema) -> None:
        """Raises `InputError` for a file of another kind, or two of the same identity."""
        self._kind = kind
        self._paths: dict[Identity, str] = {}
        for path in map(str, paths):
            check(path, kind)
            found = read_identity(path)
            if found in self._paths:
                raise InputError(
                    f"{path}: a {kind.name} artifact of {found}, and so is {self._paths[found]}. Delete the wrong one "
                    "and run snakemake again."
                )
            self._paths[found] = path

    def path(self, wanted: Identity) -> str:
        """The artifact of an identity. Raises `InputError` if there is none."""
        if wanted not in self._paths:
            there = "; ".join(map(str, self._paths)) or "none"
            raise InputError(
                f"no {self._kind.name} artifact is of {wanted}; the given ones are of: {there}. Delete the wrong one "
                "and run snakemake again."
            )
        return self._paths[wanted]
