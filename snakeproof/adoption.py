"""Adopts files that another code has made, or of an earlier version, after a comparison with today's plan.

The command of a project that adopts lets Snakemake plan all jobs, and compares the files of each. A file that agrees is
made to say that it is of today's job, and what was not compared. A file of an earlier version does not state all of its
job. Snakemake's record, if it is there, has the rest; without one, what could not be compared is said.
"""

import ast
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from snakeproof.errors import InputError
from snakeproof.files import atomic_file
from snakeproof.jobs import REVISIONS
from snakeproof.pages import RowsDigest
from snakeproof.records import SNAKEMAKE, mark_incomplete, record_file
from snakeproof.seals import (
    WEIGHTS,
    copy_weights,
    is_sealed,
    safetensors_metadata,
    seal_parquet,
    sealable_text,
    verify_file,
)
from snakeproof.statements import (
    OLDER,
    Statement,
    agree,
    digest,
    is_artifact,
    is_older,
    job_differences,
    place,
    read_statement,
    restate,
    result_path,
    state_job,
)

REFUSED = 3
"""The exit status if a file must be made again."""


class Report(NamedTuple):
    """The adopted files, with what was not compared; and those that must be made again, with the reason."""

    adopted: Mapping[str, Sequence[str]]
    refused: Mapping[str, str]

    def __str__(self) -> str:
        if not self.adopted and not self.refused:
            return "Nothing to adopt: every file says that it is of today's plan."
        lines = [f"adopted {path}; not compared: {', '.join(unknown)}" for path, unknown in self.adopted.items()]
        lines += [f"must be made again: {path}\n  {reason}" for path, reason in self.refused.items()]
        if self.refused:
            lines.append(f"A run makes these again. To delete them before:\n  rm {' '.join(map(quote, self.refused))}")
        return "\n".join(lines)


def adopt_files(workflow: Any) -> int:
    """Adopts the files of a Snakemake `workflow` that has made its plan, inputs first, and prints a report.

    Returns an exit status.
    """
    adopted: dict[str, list[str]] = {}
    refused: dict[str, str] = {}
    resting: set[Any] = set()  # jobs of which a file was adopted, or rests on an adopted one
    for job in (job for level in workflow.dag.toposorted() for job in level):
        files = [str(file) for file in job.output if os.path.exists(file)]
        if not resting.isdisjoint(workflow.dag.dependencies[job]):
            resting.add(job)
        if files and all(map(is_artifact, job.output)):
            try:
                found = _adopt_outputs(workflow, job, files)
                resting |= {job} if found else set()
                adopted |= found
            except InputError as error:
                refused |= dict.fromkeys(files, str(error))
        elif job in resting:  # its foot is to name them
            for path in files:
                mark_incomplete(path)
    report = Report(adopted, refused)
    print(report)
    return REFUSED if report.refused else 0


def _adopt_outputs(workflow: Any, job: Any, files: Sequence[str]) -> dict[str, list[str]]:
    """Adopts the outputs of a job, or raises `InputError`; returns those that were not of it, with what is unknown."""
    planned = state_job(job)
    uncompared = {path: compare(path, planned, _read_record(path)) for path in files}
    for path, unknown in uncompared.items():
        verify_file(path)
        if unknown:
            adopt(path, planned, unknown)
    workflow.async_run(workflow.persistence.finished(job))
    _date_outputs(job)
    return {path: unknown for path, unknown in uncompared.items() if unknown}


def _read_record(path: str) -> dict[str, Any] | None:
    """Snakemake's record of a file; None if it cannot be read."""
    try:
        record: dict[str, Any] = json.loads(record_file(SNAKEMAKE / "metadata", path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _date_outputs(job: Any) -> None:
    """Dates outputs no earlier than the inputs, by which Snakemake tells what is out of date; a copy loses dates."""
    dates = (_date(file) for file in job.input if os.path.exists(file) and not file.is_ancient)
    newest = max(dates, default=0)
    for file in job.output:
        if _date(file) < newest:
            os.utime(file, ns=(newest, newest))


def _date(file: str) -> int:
    return os.stat(file).st_mtime_ns


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
    if wrong := job_differences(replace(stated, code=planned.code, call=planned.call), planned):
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
    given, contents = _read_params(record, planned)
    settings = dict(_compare_settings(planned.given, stated.found if given is None else given, given is not None))
    wrong = [
        *filter(None, settings.values()),
        *_input_differences(stated, planned),
        *_name_differences(stated, planned),
    ]
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


def _read_params(record: Mapping[str, Any] | None, planned: Statement) -> tuple[dict[str, Any] | None, Any]:
    """The settings and the contents of the user's files in Snakemake's record, which has neither name nor order."""
    values = [_parse_literal(text) for text in (record or {}).get("params", [])]
    contents = planned.contents if isinstance(planned.contents, Mapping) else {}
    mappings = [value for value in values if isinstance(value, dict)]
    given = [value for value in mappings if not (contents and value.keys() == contents.keys())]
    others = [value for value in values if isinstance(value, list) or (value in mappings and value not in given)]
    return (given[0] if given else None), (others[0] if others else None)


def _parse_literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _compare_settings(
    given: Mapping[str, Any], made: Mapping[str, Any], is_whole: bool, where: str = ""
) -> Iterator[tuple[str, str | None]]:
    """Compares settings: yields each name, and how the file's value differs; "" if equal, None if it has no value."""
    for key, said in given.items():
        found = made.get(key)
        if isinstance(said, Mapping) and said:  # a file has some groups of settings, and some of these alone
            within = found if isinstance(found, Mapping) else {} if is_whole else made
            yield from _compare_settings(said, within, is_whole, f"{where}{key}.")
        elif key not in made:
            yield f"{where}{key}", f"{where}{key}: values have changed since" if where == f"{REVISIONS}." else None
        else:
            yield f"{where}{key}", "" if agree(said, found) else f"{where}{key}: the plan says {said}, found {found}"


def _input_differences(stated: Statement, planned: Statement) -> Iterator[str]:
    """The artifacts below results/ of which only one of two jobs was made, and those that have changed.

    A statement of an early version has no digests, and names no file.
    """
    before, now, known = _digests(stated), _digests(planned), _places(stated)
    yield from (f"was made from {file}, which is no input now" for file in sorted(before.keys() - now.keys()))
    if known:
        yield from (f"was not made from {file}, which is an input now" for file in sorted(now.keys() - known))
    for file in sorted(before.keys() & now.keys()):
        if before[file] not in (now[file], _earlier_digest(file)):
            yield f"was made from another {file} than is there now"


def _digests(statement: Statement) -> dict[str, str]:
    """The place and the digest of each artifact that was read."""
    read = [item for each in statement.inputs.values() for item in each.items()]
    return {file: said for file, said in read if said is not None and "/" in file}


def _earlier_digest(file: str) -> str | None:
    """The digest of weights before they were adopted: in an earlier version it was also of what they say."""
    found = read_statement(result_path(file)).found.get(_WAS)
    return None if found is None else str(found)


def _places(stated: Statement) -> set[str]:
    """The files below results/ that a statement of an earlier version names."""
    every = [stated.inputs, *(one.get("inputs", {}) for one in stated.above.values())]
    return {file for inputs in every for each in inputs.values() for file in each if "/" in file}


def _name_differences(stated: Statement, planned: Statement) -> Iterator[str]:
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
        copy_weights(path, path, {OLDER: sealable_text(older)})
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
    with atomic_file(path) as temporary:
        shutil.copyfile(path, temporary)
        seal_parquet(temporary, rows.hexdigest())
