"""Lineage: the settings that an artifact was made with, and the same of each artifact that it was made from.

Every writer passes `lineage` as `made_from` of the file that it writes. So a table does not rely on file names: it
compares the settings that it prints with those with which its retrievals, and all their inputs, were really made.

    made_from = lineage({"network": "vgg19", "layer": "fc7"}, {"images": "results/flickr8k/images.parquet"})
    {"network": "vgg19", "layer": "fc7", "parents": {"images": {"reader": "flickr", ..., "parents": {}}}}

A lineage names no folders, so it is the same wherever a project is.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from densevse.artifacts.schema import MADE_FROM, file_metadata
from densevse.runtime.errors import InputError, expected_and_found

PARENTS = "parents"
PathOrPaths = str | Path | Iterable[str | Path]


def lineage(settings: Mapping[str, Any], parents: Mapping[str, PathOrPaths] | None = None) -> dict[str, Any]:
    """The lineage of an artifact: its plain `settings`, and the lineage of each parent under `parents`.

    `parents` has for each name an artifact's file, or the files of its shards, Parquet or safetensors; a parent without
    files is left out. Raises `InputError` if a file is not a densevse artifact, or if shards have different lineages.
    """
    if PARENTS in settings:
        raise ValueError(f"a setting may not be called {PARENTS!r}")
    plain: dict[str, Any] = json.loads(json.dumps(settings, default=str))
    files = {name: _listed(found) for name, found in (parents or {}).items()}
    return {**plain, PARENTS: {name: _made_from_all(listed) for name, listed in sorted(files.items()) if listed}}


def metadata(made_from: Mapping[str, Any]) -> dict[str, str]:
    """The key-value metadata that store the lineage in a file: one key, as safetensors orders several at random."""
    return {MADE_FROM: json.dumps(made_from, sort_keys=True)}


def made_from(path: str | Path) -> dict[str, Any]:
    """The lineage of the artifact `path`, Parquet or safetensors. Raises `InputError` if it has none."""
    stored = _safetensors_metadata(Path(path)) if Path(path).suffix == ".safetensors" else file_metadata(path)
    if MADE_FROM not in stored:
        raise InputError(
            f"{path}: expected an artifact with a lineage, found a file of other software. Delete it and run "
            "snakemake again."
        )
    found: dict[str, Any] = json.loads(stored[MADE_FROM])
    return found


def ancestors(made_from: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every ancestor: the way to it and its settings, such as ("model/regions/proposals", {"kind": ...})."""
    for name, parent in made_from.get(PARENTS, {}).items():
        way = f"{where}{name}"
        yield way, {key: value for key, value in parent.items() if key != PARENTS}
        yield from ancestors(parent, f"{way}/")


def without(made_from: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The lineage of an artifact without the ancestors called `name`."""
    kept = {parent: without(above, name) for parent, above in made_from.get(PARENTS, {}).items() if parent != name}
    return {**made_from, PARENTS: kept}


def _listed(files: PathOrPaths) -> list[Path]:
    return [Path(files)] if isinstance(files, str | Path) else [Path(path) for path in files]


def _made_from_all(shards: list[Path]) -> dict[str, Any]:
    first = made_from(shards[0])
    for path in shards[1:]:
        if (found := made_from(path)) != first:
            raise InputError(
                f"{path}: made from other things than {shards[0]}: {expected_and_found(first, found)}. Delete the "
                "wrong one and run snakemake again."
            )
    return first


def _safetensors_metadata(path: Path) -> dict[str, str]:
    """The text metadata in a safetensors file: a length of 8 bytes, then JSON with the key `__metadata__`."""
    try:
        with open(path, "rb") as file:
            header: dict[str, Any] = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Run snakemake with this path as its target to make it.") from None
    except (ValueError, MemoryError, OverflowError) as error:
        raise InputError(f"{path}: not a whole safetensors file ({error}). Delete it and run snakemake.") from error
    stored: dict[str, str] = header.get("__metadata__", {})
    return stored
