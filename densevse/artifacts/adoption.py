"""Compares what files hold of their making with the plan of today, so that files without a record can be adopted.

A lineage has the settings of a file and the digests of what it was made from. It has no digest of code, and not every
setting and input of a job, so `compare` also says what it could not compare.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from densevse.artifacts.files import atomic
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import DIGESTS, PARENTS, agree, check_contents, made_from, metadata, place, places
from densevse.artifacts.schema import IDENTITY, file_metadata, identity
from densevse.artifacts.seals import RowsDigest, is_sealed, seal_parquet, sealed, verified
from densevse.runtime.errors import InputError

CODE, BYTES = "the code", "whether its bytes are those that were written"
PARQUET, WEIGHTS = ".parquet", ".safetensors"


class AdoptableJob(NamedTuple):
    """A job of today's plan whose outputs are there, with its settings as `given`."""

    inputs: Sequence[str]
    outputs: Sequence[str]
    wildcards: Mapping[str, str]
    given: Mapping[str, Any]


def compare(job: AdoptableJob) -> list[str]:
    """Compares a job's outputs with the plan; returns what could not be compared: the code, settings, inputs.

    Files of an earlier version, which have no seal, are sealed first. Raises `InputError` that says what disagrees, or
    that a file is damaged or does not state how it was made.
    """
    uncompared = [CODE]
    for path in job.outputs:
        if not states_making([path]):
            raise InputError(f"{path}: files of this kind do not state how they were made.")
        if not Path(path).exists():
            raise InputError(f"{path}: no such file, though the job made it.")
        uncompared += [BYTES] * _seal_older(path)
        uncompared += _compare(path, made_from(path), job)
        verified(path)
    check_contents(job.outputs)
    return list(dict.fromkeys(uncompared))


def states_making(files: Sequence[str]) -> bool:
    """True for one or more files of kinds that have a lineage."""
    return bool(files) and all(Path(file).suffix in (PARQUET, WEIGHTS) for file in files)


def _compare(path: str, made: Mapping[str, Any], job: AdoptableJob) -> list[str]:
    """Compares one output; returns what could not be compared."""
    settings = dict(_settings(job.given, made))
    wrong = [*filter(None, settings.values()), *_other_inputs(made, job.inputs), *_other_names(path, made, job)]
    if wrong:
        raise InputError(f"{path}: {'; '.join(wrong)}.")
    known = places(made)
    unknown = [file for file in job.inputs if place(file) not in known]
    return [*(key for key, difference in settings.items() if difference is None), *unknown]


def _settings(given: Mapping[str, Any], made: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, str | None]]:
    """The settings of a job, each with how a lineage differs: not at all (""), or unknown, as it has none (None)."""
    for key, said in given.items():
        found = made.get(key)
        if isinstance(said, Mapping) and said:  # a lineage has some groups of settings, and some of these alone
            yield from _settings(said, found if isinstance(found, Mapping) else made, f"{where}{key}.")
        elif key not in made:
            yield f"{where}{key}", None
        else:
            yield f"{where}{key}", "" if agree(said, found) else f"{where}{key}: the plan says {said}, found {found}"


def _other_inputs(made: Mapping[str, Any], inputs: Sequence[str]) -> list[str]:
    """The artifacts below results/ that are an input of either the file or the planned job, but not of both.

    A lineage of an earlier version has no digests, and names no file.
    """
    known = places(made)
    planned = {place(file) for file in inputs if Path(file).suffix in (PARQUET, WEIGHTS)}
    planned = {file for file in planned if "/" in file}
    read = {file for parent in made.get(PARENTS, {}).values() for file in parent.get(DIGESTS, {}) if "/" in file}
    return [
        *(f"was made from {file}, which is no input today" for file in sorted(read - planned)),
        *(f"was not made from {file}, which is an input today" for file in sorted(planned - known) if known),
    ]


def _other_names(path: str, made: Mapping[str, Any], job: AdoptableJob) -> list[str]:
    """The differences between the job's wildcards and a lineage, or the identity in a file."""
    named = Identity.of(job.wildcards).values() if "dataset" in job.wildcards else {}
    said: dict[str, Any] = {**job.wildcards, **named}
    found = {name: value for name, value in made.items() if isinstance(value, str | int)}
    if Path(path).suffix == PARQUET and IDENTITY in file_metadata(path):
        found |= identity(path).values()
    return [
        f"{name}: the plan says {said[name]}, found {found[name]}"
        for name in sorted(said.keys() & found.keys())
        if str(said[name]) != str(found[name])
    ]


def _seal_older(path: str) -> bool:
    """Seals a file without a seal, and leaves its times as they are; False for one with a seal."""
    if is_sealed(path):
        return False
    status = os.stat(path)
    _seal_weights(path) if Path(path).suffix == WEIGHTS else _seal_rows(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return True


def _seal_rows(path: str) -> None:
    rows = RowsDigest()
    try:
        with pq.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                rows.add(file.read_row_group(number))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read ({error}).") from error
    with atomic(path) as temporary:
        shutil.copyfile(path, temporary)
        seal_parquet(temporary, rows)


def _seal_weights(path: str) -> None:
    made = made_from(path)
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        text = json.dumps({**header, "__metadata__": metadata(made)}).encode()
        text += b" " * (-len(text) % 8)
        with sealed(path) as temporary, open(temporary, "wb") as copy:
            copy.write(len(text).to_bytes(8, "little") + text)
            shutil.copyfileobj(file, copy)
