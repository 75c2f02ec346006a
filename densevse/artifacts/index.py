"""Finds artifacts by their identities, whatever their paths and their order are."""

from collections.abc import Iterable
from pathlib import Path

from densevse.artifacts.identity import Identity
from densevse.artifacts.schema import Schema, check, identity
from densevse.runtime.errors import InputError


class ArtifactIndex:
    """Artifacts of one kind, by identity."""

    def __init__(self, paths: Iterable[str | Path], kind: Schema) -> None:
        """Raises `InputError` for a file of another kind, and for one with the identity of another one."""
        self._kind = kind
        self._paths: dict[Identity, str] = {}
        for path in map(str, paths):
            check(path, kind)
            found = identity(path)
            if found in self._paths:
                raise InputError(
                    f"{path}: a {kind.name} artifact of {found}, as {self._paths[found]} is. Delete the one that is "
                    "wrong and run snakemake again."
                )
            self._paths[found] = path

    def path(self, wanted: Identity) -> str:
        """The artifact of an identity. Raises `InputError` if it is not there."""
        if wanted not in self._paths:
            there = "; ".join(map(str, self._paths)) or "none"
            raise InputError(
                f"no {self._kind.name} artifact is of {wanted}; those that are given are of: {there}. Delete the one "
                "that is wrong and run snakemake again."
            )
        return self._paths[wanted]
