"""Adopts files of whose making no record can be read, after a comparison with today's plan: `densevse adopt`.

The comparison is that of densevse.artifacts.adoption. Snakemake itself makes the records, in a folder of their own,
from which they are taken with a mark (densevse.dag.records).
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from densevse.artifacts.adoption import AdoptableJob, compare, states_making
from densevse.dag.records import SNAKEMAKE, adopt, record_file
from densevse.runtime.errors import InputError
from densevse.runtime.project import ADOPTS, LOST

REFUSED = 3
"""The exit status if a file must be made again."""


class Report(NamedTuple):
    """The adopted files, with what could not be compared; and those that must be made again, with the reason."""

    adopted: Mapping[str, Sequence[str]]
    refused: Mapping[str, str]
    lost: Sequence[str]
    """Those of the refused that a run does not make again while they are there."""

    def __str__(self) -> str:
        if not self.adopted and not self.refused:
            return "Nothing to adopt: of every file there is a record that agrees with the plan."
        lines = [f"adopted {path}; not compared: {', '.join(unknown)}" for path, unknown in self.adopted.items()]
        lines += [f"must be made again: {path}\n  {reason}" for path, reason in self.refused.items()]
        if self.lost:
            lines.append(f"Delete these, then run again:\n  rm {' '.join(map(quote, self.lost))}")
        return "\n".join(lines)


def adopt_planned(workflow: Any, lost: Sequence[str]) -> int:
    """Adopts the files of a Snakemake `workflow` that has made its plan, and prints a report; returns an exit status.

    Of the files `lost` there is no record.
    """
    report = Adoption(workflow, lost, only_lost=os.environ[ADOPTS] == LOST).adopt()
    print(report)
    return REFUSED if report.refused else 0


class Adoption:
    """The adoption of files by a Snakemake `workflow` that has made its plan."""

    def __init__(self, workflow: Any, lost: Sequence[str], only_lost: bool) -> None:
        """Of the files `lost` there is no record; with `only_lost`, other files are left as they are."""
        self._workflow, self._lost, self._only_lost = workflow, {*lost}, only_lost

    def adopt(self) -> Report:
        """Adopts the files of planned jobs that agree with the plan, inputs first."""
        adopted: dict[str, list[str]] = {}
        refused: dict[str, str] = {}
        for job in (job for level in self._workflow.dag.toposorted() for job in level):
            there = [str(file) for file in job.output if os.path.exists(file)]
            try:
                if not self._lost.isdisjoint(there) or (not self._only_lost and self._has_changed(job)):
                    adopted |= dict.fromkeys(there, self._adopt(job))
                elif not self._only_lost and states_making(there) and _newest(job) > min(map(_date, there)):
                    compare(_planned(job))
                    _settle(job)
            except InputError as error:
                refused |= dict.fromkeys(there, str(error))
        return Report(adopted, refused, sorted(self._lost & refused.keys()))

    def _has_changed(self, job: Any) -> bool:
        """True for files that state how they were made, and whose record has other settings, code or inputs."""
        records = self._workflow.persistence
        return states_making(job.output) and (records.params_changed(job) or any(records.input_changed(job)))

    def _adopt(self, job: Any) -> list[str]:
        """Writes the records of a job whose outputs agree with the plan; returns what could not be compared."""
        uncompared = compare(_planned(job))
        with TemporaryDirectory(dir=SNAKEMAKE) as folder:
            records = type(self._workflow.persistence)(dag=self._workflow.dag, path=Path(folder))
            self._workflow.async_run(records.finished(job))
            for file in job.output:
                adopt(file, record_file(Path(folder, "metadata"), file).read_bytes(), uncompared)
        _settle(job)
        return uncompared


def _planned(job: Any) -> AdoptableJob:
    files = [str(file) for file in job.input], [str(file) for file in job.output]
    return AdoptableJob(*files, dict(job.wildcards.items()), job.params.get("given", {}))


def _settle(job: Any) -> None:
    """Dates outputs no earlier than the inputs, by which Snakemake tells what is out of date; a copy loses dates."""
    newest = _newest(job)
    for file in job.output:
        if _date(file) < newest:
            os.utime(file, ns=(newest, newest))


def _newest(job: Any) -> int:
    """The latest date of the inputs that are there, but for those whose dates do not count."""
    return max((_date(file) for file in job.input if os.path.exists(file) and not file.is_ancient), default=0)


def _date(file: str) -> int:
    return os.stat(file).st_mtime_ns
