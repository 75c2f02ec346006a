"""Lineage: the settings that an artifact was made with, and the same of each artifact that it was made from.

Every writer passes `lineage` as `made_from` of the file that it writes. So a table does not rely on file names: it
compares the settings that it prints with those with which its retrievals, and all their inputs, were really made.

    made_from = lineage({"network": "vgg19", "layer": "fc7"}, {"images": "results/flickr8k/images.parquet"})
    {"network": "vgg19", "layer": "fc7", "parents": {"images": {"reader": "flickr", ..., "parents": {},
     "digests": {"flickr8k/images.parquet": "3f0a..."}}}}

Each parent has the digests of its files, of their rows or weights, by their places below results/. A lineage names no
other folder, so it is the same wherever a project is.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from densevse.artifacts.schema import MADE_FROM, file_metadata
from densevse.artifacts.seals import DIGEST, UNKNOWN, damaged, stated_digest, verified
from densevse.runtime.errors import InputError, expected_and_found
from densevse.runtime.project import RESULTS

PARENTS, DIGESTS = "parents", "digests"
PathOrPaths = str | Path | Iterable[str | Path]
Parents = Mapping[str, PathOrPaths]
"""Name -> an artifact's file, or the files of its shards."""


def lineage(settings: Mapping[str, Any], parents: Parents | None = None) -> dict[str, Any]:
    """The lineage of an artifact: its plain `settings`, and the lineage of each parent under `parents`.

    `parents` are all artifacts that it was made from, Parquet or safetensors; one without files is left out. Raises
    `InputError` if a file is not a densevse artifact, or if shards have different lineages.
    """
    if taken := settings.keys() & {PARENTS, DIGEST, DIGESTS}:
        raise ValueError(f"a setting may not be called {sorted(taken)}")
    plain: dict[str, Any] = json.loads(json.dumps(settings, default=str))
    files = {name: _listed(found) for name, found in (parents or {}).items()}
    return {**plain, PARENTS: {name: _parent(listed) for name, listed in sorted(files.items()) if listed}}


def with_digest(path: str | Path) -> dict[str, Any]:
    """The lineage of an artifact as its children have it: with the digest of the artifact by its place."""
    return _parent([Path(path)])


def metadata(made_from: Mapping[str, Any]) -> dict[str, str]:
    """The metadata of a safetensors file: the lineage, with room for the digest of a seal.

    They are one key, as safetensors orders several at random.
    """
    return {MADE_FROM: json.dumps({**made_from, DIGEST: UNKNOWN}, sort_keys=True)}


def made_from(path: str | Path) -> dict[str, Any]:
    """The lineage of the artifact `path`, Parquet or safetensors.

    Raises `InputError` if it has none, or is damaged where that is read.
    """
    weights = Path(path).suffix == ".safetensors"
    stored = safetensors_metadata(path) if weights else file_metadata(path)
    if MADE_FROM not in stored:
        raise InputError(
            f"{path}: expected an artifact with a lineage, found a file of other software. Delete it and run "
            "snakemake again."
        )
    try:
        found: dict[str, Any] = json.loads(stored[MADE_FROM])
    except ValueError:
        raise damaged(path, "in its metadata") from None
    return {key: value for key, value in found.items() if key != DIGEST}


def merged(files: Sequence[str | Path], lineages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The lineage of an artifact in several files, whose parents may be in several files too.

    Raises `InputError` if the files were made with different settings, or from different contents of one file.
    """
    first = stated(lineages[0])
    for path, one in zip(files, lineages, strict=True):
        if (found := stated(one)) != first:
            raise InputError(
                f"{path}: made from other things than {files[0]}: {expected_and_found(first, found)}. Delete the "
                "wrong one and run snakemake again."
            )
    return _joined(files, lineages)


def stated(made_from: Mapping[str, Any]) -> dict[str, Any]:
    """A lineage without digests: the settings of an artifact and of all its ancestors."""
    plain = {key: value for key, value in made_from.items() if key != DIGESTS}
    above = {name: stated(parent) for name, parent in made_from.get(PARENTS, {}).items()}
    return {**plain, PARENTS: above} if PARENTS in made_from else plain


def ancestors(made_from: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every ancestor: the way to it and its settings, such as ("model/regions/proposals", {"kind": ...})."""
    for name, parent in made_from.get(PARENTS, {}).items():
        way = f"{where}{name}"
        yield way, {key: value for key, value in parent.items() if key not in (PARENTS, DIGESTS)}
        yield from ancestors(parent, f"{way}/")


def without(made_from: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings in the lineage of an artifact, without those of the ancestors called `name`."""
    kept = {parent: without(above, name) for parent, above in made_from.get(PARENTS, {}).items() if parent != name}
    return {**stated(made_from), PARENTS: kept}


def place(path: str | Path) -> str:
    """The place of a file below results/, also in a copy of it; the name of a file that is elsewhere."""
    results, file = os.path.normpath(os.environ.get(RESULTS, "results")), os.path.normpath(path)
    _, found, below = f"/{file}".rpartition(f"/{results.lstrip('/')}/")
    return below if found else os.path.basename(file)


def places(made_from: Mapping[str, Any]) -> set[str]:
    """The files below results/ that a lineage names, of whose contents it has digests."""
    own = {file for file in made_from.get(DIGESTS, {}) if "/" in file}
    return own | {file for file, _, _ in _read(made_from, [])}


def agree(said: Any, found: Any) -> bool:
    """True if two settings are equal in all keys that both have; a key of only one was read by no code, or is new."""
    if isinstance(said, Mapping) and isinstance(found, Mapping):
        return all(agree(said[key], found[key]) for key in said.keys() & found.keys())
    if isinstance(said, list) and isinstance(found, list):
        return len(said) == len(found) and all(map(agree, said, found))
    return bool(said == found)


def check_contents(paths: Sequence[str | Path]) -> None:
    """Checks that artifacts come from the same contents of each file below results/, and from those that are there now.

    Raises `InputError` that names the file, and the artifacts that were made from other contents of it.
    """
    read: dict[str, tuple[str, list[str]]] = {}
    for path in map(str, paths):
        below = place(path)
        for file, found, through in _read(made_from(path), [below]):
            known, others = read.setdefault(file, (found, through))
            if known != found:
                raise _other_contents(path.removesuffix(below), file, f"than {', '.join(others)}", through)
    for file, (found, through) in read.items():
        there = Path(str(paths[0]).removesuffix(place(paths[0])), file)
        if there.exists() and digest(there) != found:
            raise _other_contents(str(there).removesuffix(file), file, "than it has now", through)


def _read(made_from: Mapping[str, Any], through: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Each file below results/ that a lineage names, its digest, and the files through which it was read."""
    for parent in made_from.get(PARENTS, {}).values():
        digests: dict[str, str] = parent.get(DIGESTS, {})
        for file, found in digests.items():
            if "/" in file:
                yield file, found, through
        yield from _read(parent, [*through, *digests])


def _other_contents(folder: str, file: str, than: str, through: Iterable[str]) -> InputError:
    made = "\n".join(f"  {folder}{name}" for name in through)
    return InputError(
        f"{folder}{file}: another file of that name was read {than}, for\n{made}\nRestore that file; or delete these, "
        "which were made from it, and run snakemake again."
    )


def _listed(files: PathOrPaths) -> list[Path]:
    return [Path(files)] if isinstance(files, str | Path) else [Path(path) for path in files]


def _parent(files: list[Path]) -> dict[str, Any]:
    """The lineage of an artifact, with the digests of its files."""
    lineages = [made_from(path) for path in files]
    for path in files:
        if path.suffix == ".safetensors":  # the pages of a Parquet file are checked where they are read
            verified(path)
    named = [{**one, DIGESTS: {place(path): digest(path)}} for path, one in zip(files, lineages, strict=True)]
    return merged(files, named)


def digest(path: str | Path) -> str:
    """The digest of a file in lineages, as its seal states it; neither pages nor weights are checked here."""
    return stated_digest(path)[:32]


def _joined(files: Sequence[str | Path], lineages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Lineages with the same settings as one, with the digests of all."""
    first = lineages[0]
    if all(one == first for one in lineages):
        return dict(first)
    digests: dict[str, str] = {}
    for path, one in zip(files, lineages, strict=True):
        for read, found in one.get(DIGESTS, {}).items():
            if digests.setdefault(read, found) != found:
                raise InputError(
                    f"{path}: made from other contents of {read} than {files[0]}. Delete both and run snakemake again."
                )
    parents = {name: _joined(files, [one[PARENTS][name] for one in lineages]) for name in first.get(PARENTS, {})}
    return {**first, **({DIGESTS: digests} if digests else {}), PARENTS: parents}


def safetensors_metadata(path: str | Path) -> dict[str, str]:
    """The text metadata in a safetensors file: a length of 8 bytes, then JSON with the key `__metadata__`.

    Raises `InputError` if the file is missing or does not begin so.
    """
    try:
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            stored = header.get("__metadata__", {}) if isinstance(header, dict) else None
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Run snakemake with this path as its target to make it.") from None
    except (ValueError, MemoryError, OverflowError, RecursionError) as error:
        raise InputError(f"{path}: not a whole safetensors file ({error}). Delete it and run snakemake.") from error
    if not isinstance(stored, dict):
        raise InputError(f"{path}: not a safetensors file, as its header is no object. Delete it and run snakemake.")
    return stored
