"""Compares what files say of their making with today's plan, so that files of other code can be adopted.

A file of an earlier version does not state all of its job. Its record, if it is there, has the rest; without one, what
could not be compared is said.
"""

import ast
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from densevse.artifacts.files import atomic
from densevse.artifacts.pages import RowsDigest
from densevse.artifacts.seals import WEIGHTS, copy_weights, is_sealed, safetensors_metadata, seal_parquet, sealable
from densevse.artifacts.statements import (
    OLDER,
    Statement,
    agree,
    differing,
    digest,
    is_older,
    path_of,
    place,
    read_statement,
    restate,
)
from densevse.runtime.errors import InputError

CODE, BYTES = "the code", "whether its bytes are those that were written"
_WAS = "digest_of_earlier_version"


def compare(path: str, planned: Statement, record: Mapping[str, Any] | None) -> list[str]:
    """Compares a file with a planned job; returns what differs in code or could not be compared.

    `record` is what Snakemake knows of the making of a file of an earlier version. A file without a seal is sealed
    first. Raises `InputError` that says what disagrees, or that the file is damaged.
    """
    uncompared = [BYTES] * _seal_older(path)
    stated = read_statement(path)
    if is_older(path):
        return [CODE, *uncompared, *_compare_older(path, stated, planned, record)]
    if wrong := differing(replace(stated, code=planned.code, call=planned.call), planned):
        raise InputError(f"{path}: {'; '.join(wrong)}.")
    return [CODE] * ((stated.code, stated.call) != (planned.code, planned.call))


def adopt(path: str, planned: Statement, uncompared: list[str]) -> None:
    """Lets a file say that it is of a planned job, and what was not compared."""
    stated = read_statement(path)
    found = {**stated.found, **({_WAS: digest(path)} if is_older(path) else {})}
    marks = {**planned.adopted, **({place(path): uncompared} if uncompared else {})}
    restate(path, path, replace(planned, found=found, adopted=marks))


def _compare_older(path: str, stated: Statement, planned: Statement, record: Mapping[str, Any] | None) -> list[str]:
    """Compares a file of an earlier version; returns what could not be compared."""
    given, contents = _recorded(record, planned)
    settings = dict(_settings(planned.given, stated.found if given is None else given, given is not None))
    wrong = [*filter(None, settings.values()), *_other_inputs(stated, planned), *_other_names(stated, planned)]
    if contents is not None and contents != planned.values().get("contents", contents):
        wrong.append("the user's files have other contents now")
    if wrong:
        raise InputError(f"{path}: {'; '.join(wrong)}.")
    unknown = [key for key, difference in settings.items() if difference is None]
    if given is not None:
        return unknown
    known = _places(stated)
    files = [file for each in planned.inputs.values() for file in each]
    return [*unknown, *(file for file in files if file not in known)]


def _recorded(record: Mapping[str, Any] | None, planned: Statement) -> tuple[dict[str, Any] | None, Any]:
    """The settings and the contents of the user's files in Snakemake's record, which has neither name nor order."""
    values = [_parsed(text) for text in (record or {}).get("params", [])]
    contents = planned.contents if isinstance(planned.contents, Mapping) else {}
    mappings = [value for value in values if isinstance(value, dict)]
    given = [value for value in mappings if not (contents and value.keys() == contents.keys())]
    others = [value for value in values if isinstance(value, list) or (value in mappings and value not in given)]
    return (given[0] if given else None), (others[0] if others else None)


def _parsed(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _settings(
    given: Mapping[str, Any], made: Mapping[str, Any], is_whole: bool, where: str = ""
) -> Iterator[tuple[str, str | None]]:
    """The settings of a job, each with how a file's differ: not at all (""), or unknown, as it has none (None)."""
    for key, said in given.items():
        found = made.get(key)
        if isinstance(said, Mapping) and said:  # a file has some groups of settings, and some of these alone
            within = found if isinstance(found, Mapping) else {} if is_whole else made
            yield from _settings(said, within, is_whole, f"{where}{key}.")
        elif key not in made:
            yield f"{where}{key}", None
        else:
            yield f"{where}{key}", "" if agree(said, found) else f"{where}{key}: the plan says {said}, found {found}"


def _other_inputs(stated: Statement, planned: Statement) -> Iterator[str]:
    """The artifacts below results/ of which only one of two jobs was made, and those that have changed.

    A statement of an early version has no digests, and names no file.
    """
    before, now, known = _digests(stated), _digests(planned), _places(stated)
    yield from (f"was made from {file}, which is no input now" for file in sorted(before.keys() - now.keys()))
    if known:
        yield from (f"was not made from {file}, which is an input now" for file in sorted(now.keys() - known))
    for file in sorted(before.keys() & now.keys()):
        if before[file] not in (now[file], _digest_before(file)):
            yield f"was made from another {file} than is there now"


def _digests(statement: Statement) -> dict[str, str]:
    """The place and the digest of each artifact that was read."""
    read = [item for each in statement.inputs.values() for item in each.items()]
    return {file: said for file, said in read if said is not None and "/" in file}


def _digest_before(file: str) -> str | None:
    """The digest of weights before they were adopted: in an earlier version it was also of what they say."""
    found = read_statement(path_of(file)).found.get(_WAS)
    return None if found is None else str(found)


def _places(stated: Statement) -> set[str]:
    """The files below results/ that a statement of an earlier version names."""
    every = [stated.inputs, *(one.get("inputs", {}) for one in stated.above.values())]
    return {file for inputs in every for each in inputs.values() for file in each if "/" in file}


def _other_names(stated: Statement, planned: Statement) -> Iterator[str]:
    """The differences between the planned job's wildcards and what a file says of itself."""
    for name in sorted(planned.wildcards.keys() & stated.found.keys() - {"view"}):  # of given regions it has two forms
        said, found = planned.wildcards[name], stated.found[name]
        if isinstance(found, str | int) and str(said) != str(found):
            yield f"{name}: the plan says {said}, found {found}"


def _seal_older(path: str) -> bool:
    """Seals a file of a version without seals; False for one with a seal."""
    if is_sealed(path):
        return False
    if Path(path).suffix == WEIGHTS:
        older = json.loads(safetensors_metadata(path)[OLDER])
        copy_weights(path, path, {OLDER: sealable(older)})
    else:
        _seal_rows(path)
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
        seal_parquet(temporary, rows.hexdigest())
