"""What an artifact was made from, all the way up: its own settings, and the same of each artifact that it was made of.

Every writer calls `lineage` for the `made_from` of what it writes, so that nobody has to trust a file's name: a table
compares the settings that it prints with those that its retrievals, and all before them, were really made with.

    made_from = lineage({"network": "vgg19", "layer": "fc7"}, {"images": "results/flickr8k/images.parquet"})
    {"network": "vgg19", "layer": "fc7", "parents": {"images": {"reader": "flickr", ..., "parents": {}}}}

The trace is the same wherever a project stands: it names no folders.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from densevse.artifacts.schema import MADE_FROM, file_metadata
from densevse.runtime.errors import InputError

PARENTS = "parents"
PathOrPaths = str | Path | Iterable[str | Path]


def lineage(settings: Mapping[str, Any], parents: Mapping[str, PathOrPaths] | None = None) -> dict[str, Any]:
    """What an artifact is made from: plain `settings`, and under `parents` what each parent was made from.

    `parents` has for each name an artifact's file, or the files of its shards, Parquet or safetensors; one without
    files is left out. Raises `InputError` for a file that is no artifact of ours, or shards that were made from
    different things.
    """
    if PARENTS in settings:
        raise ValueError(f"a setting may not be called {PARENTS!r}")
    plain: dict[str, Any] = json.loads(json.dumps(settings, default=str))
    files = {name: _listed(found) for name, found in (parents or {}).items()}
    return {**plain, PARENTS: {name: _made_from_all(listed) for name, listed in sorted(files.items()) if listed}}


def metadata(made_from: Mapping[str, Any]) -> dict[str, str]:
    """The key-value metadata that say in a file what it was made from."""
    return {MADE_FROM: json.dumps(made_from, sort_keys=True)}


def made_from(path: str | Path) -> dict[str, Any]:
    """What the artifact `path`, Parquet or safetensors, was made from. Raises `InputError` if it does not say so."""
    stored = _safetensors_metadata(Path(path)) if Path(path).suffix == ".safetensors" else file_metadata(path)
    if MADE_FROM not in stored:
        raise InputError(
            f"{path}: expected an artifact that says what it was made from, found a file of other software. Delete it "
            "and run snakemake again to make it anew."
        )
    found: dict[str, Any] = json.loads(stored[MADE_FROM])
    return found


def ancestors(made_from: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every ancestor with the way to it and its own settings, such as ("model/regions/proposals", {"kind": ...})."""
    for name, parent in made_from.get(PARENTS, {}).items():
        way = f"{where}{name}"
        yield way, {key: value for key, value in parent.items() if key != PARENTS}
        yield from ancestors(parent, f"{way}/")


def without(made_from: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What an artifact was made from, less every ancestor called `name`."""
    kept = {parent: without(above, name) for parent, above in made_from.get(PARENTS, {}).items() if parent != name}
    return {**made_from, PARENTS: kept}


def _listed(files: PathOrPaths) -> list[Path]:
    return [Path(files)] if isinstance(files, str | Path) else [Path(path) for path in files]


def _made_from_all(shards: list[Path]) -> dict[str, Any]:
    first = made_from(shards[0])
    for path in shards[1:]:
        if (found := made_from(path)) != first:
            raise InputError(
                f"{path}: expected a shard made from {first} as {shards[0]} is, found {found}. Delete the one that is "
                "wrong and run snakemake again to make it anew."
            )
    return first


def _safetensors_metadata(path: Path) -> dict[str, str]:
    """The text metadata in a safetensors file: a length of 8 bytes, then JSON whose key `__metadata__` has them."""
    try:
        with open(path, "rb") as file:
            header: dict[str, Any] = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Ask snakemake for it by this name to make it.") from None
    except (ValueError, MemoryError, OverflowError) as error:
        raise InputError(f"{path}: not a whole safetensors file ({error}). Delete it and run snakemake.") from error
    stored: dict[str, str] = header.get("__metadata__", {})
    return stored
