"""Adopts files that another code has made, or of an earlier version, after a comparison with today's plan.

`densevse adopt` lets Snakemake plan all jobs, and compares the files of each (densevse.artifacts.adoption). A file that
agrees is made to say that it is of today's job, and what was not compared.
"""

import json
import os
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

from densevse.artifacts.adoption import adopt, compare
from densevse.artifacts.seals import verified
from densevse.artifacts.statements import is_artifact, state_job
from densevse.dag.records import SNAKEMAKE, mark_incomplete, record_file
from densevse.runtime.errors import InputError

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


def adopt_planned(workflow: Any) -> int:
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
                found = _adopt(workflow, job, files)
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


def _adopt(workflow: Any, job: Any, files: Sequence[str]) -> dict[str, list[str]]:
    """Adopts the outputs of a job, or raises `InputError`; returns those that were not of it, with what is unknown."""
    planned = state_job(job)
    uncompared = {path: compare(path, planned, _read_record(path)) for path in files}
    for path, unknown in uncompared.items():
        verified(path)
        if unknown:
            adopt(path, planned, unknown)
    workflow.async_run(workflow.persistence.finished(job))
    _settle(job)
    return {path: unknown for path, unknown in uncompared.items() if unknown}


def _read_record(path: str) -> dict[str, Any] | None:
    """Snakemake's record of a file; None if it cannot be read."""
    try:
        record: dict[str, Any] = json.loads(record_file(SNAKEMAKE / "metadata", path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _settle(job: Any) -> None:
    """Dates outputs no earlier than the inputs, by which Snakemake tells what is out of date; a copy loses dates."""
    dates = (_date(file) for file in job.input if os.path.exists(file) and not file.is_ancient)
    newest = max(dates, default=0)
    for file in job.output:
        if _date(file) < newest:
            os.utime(file, ns=(newest, newest))


def _date(file: str) -> int:
    return os.stat(file).st_mtime_ns
