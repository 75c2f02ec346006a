"""A run of a workflow: what it does while it is planned, before its first job, and at its end.

A run locks its folders before its first job, so that no other one makes files there, and writes a bucket's records.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from snakeproof.bucket import Bucket, BucketRecords
from snakeproof.dates import future_date_warnings, settle_dates
from snakeproof.errors import InputError, differences, spell_none
from snakeproof.logs import last_errors
from snakeproof.options import ADOPT, ADOPTS
from snakeproof.records import (
    doubt_files,
    doubted_warning,
    keep_records,
    older_files,
    older_warning,
    read_only_warnings,
)
from snakeproof.run_lock import RunLock, lock_folders, name_holder
from snakeproof.signals import Interruption, end_by_signals
from snakeproof.statements import Statement, is_artifact, job_differences, read_statement, state_job
from snakeproof.unchanged import put_aside, remove_second_names


class Run:
    """A run of a Snakemake workflow. It acts in the process that plans; in those of jobs it does nothing."""

    def __init__(
        self,
        workflow: Any,
        folders: Mapping[str, str],
        is_made: Callable[[str], bool],
        logger: Any,
        adopt: str = ADOPT,
        bucket: Bucket | None = None,
        is_dry_run: bool = False,
    ) -> None:
        """`folders` are those in which rules make files, by their keys in the configuration; `results` is one of them.

        `is_made` is true for a path that a rule makes, and `adopt` is the command that keeps files of an earlier
        version. Results lie in a `bucket`, or in that folder. Raises `InputError` if its records cannot be kept or
        read.
        """
        self._workflow, self._folders, self._logger, self._adopt = workflow, folders, logger, adopt
        self._is_made = is_made
        self._results, self._began = folders["results"], time.time()
        self._doubted, self._older = list[str](), list[str]()
        self._is_planning, self._records = workflow.is_main_process, None
        self._holds_results = False
        self.outputs = list[Any]()  # of Snakemake's type
        """The planned outputs, once the run has begun."""
        if not self._is_planning:
            return
        self._interruption = Interruption()
        logger.addFilter(self._interruption)
        warn = logger.warning
        for warnings in (read_only_warnings, future_date_warnings):
            for warning in warnings(*folders.values()):
                warn(warning)
        if bucket is None:
            keep_records(self._results, is_dry_run)
            self._locks = [RunLock(folder, key, warn) for key, folder in folders.items()]
            logger.addFilter(self._name_holder)
        else:
            self._records = BucketRecords(bucket, self._results, warn)
            self._records.fetch()

    @property
    def files_to_adopt(self) -> list[str]:
        """The files that a command adopts that is given no targets."""
        return list(dict.fromkeys([*self._doubted, *self._older]))

    def doubt(self) -> None:
        """Lets the jobs of files in doubt be planned. Call this below all rules, as they say what they make."""
        if self._records or not self._is_planning:
            return
        self._doubted, self._older = doubt_files(self._results, self._is_made), older_files(self._results)
        for warning in (doubted_warning(self._doubted), older_warning(self._older, self._adopt)):
            if warning and ADOPTS not in os.environ:
                self._logger.warning(warning)

    def begin(self) -> None:
        """Prepares the planned jobs, in the hook `onstart`.

        Raises `InputError` if another run is in progress, or has ended since the plan.
        """
        end_by_signals()
        self._interruption.end_jobs(self._workflow.globals["shell"])
        self._jobs = list(self._workflow.dag.needrun_jobs())
        self.outputs = [file for job in self._jobs for file in job.output]
        if self._records:
            self._records.begin(file.storage_object.query for file in self.outputs if file.is_storage)
        else:
            self._holds_results = self._results in lock_folders(self._locks, self.outputs)
            inputs = (file for job in self._jobs for file in job.input)
            settle_dates(inputs, self._folders.values(), self._is_made)
            if not self._workflow.touch:
                self._say_changes()
                if self._holds_results:
                    put_aside(self._workflow, self._results, self._doubted)
        if ADOPTS in os.environ:
            from snakeproof.adoption import adopt_files

            # By --touch and --forceall all jobs are planned, which Snakemake would now call done.
            sys.exit(adopt_files(self._workflow))

    def succeed(self) -> None:
        """Ends a run, in the hook `onsuccess`.

        Raises `InputError` if an output in a folder is not of its job at the end: another process has replaced it. That
        is a job of a run that was killed, which goes on without it. The next run makes such a file again.
        """
        self._end()
        if self._records:
            return
        others = [file for job in self._jobs for file in map(str, job.output) if not _is_of_job(file, job)]
        if others:
            raise InputError(
                f"{', '.join(others)}: replaced by another process, such as a job of a run that was killed, after its "
                "own job had made it. Run the same command again."
            )

    def fail(self) -> None:
        """Ends a run, in the hook `onerror`, and repeats the errors of its jobs, which stand far above in the log."""
        self._end()
        if self._interruption.has_happened:
            self._interruption.exit(self._logger)
        logs = [file for job in self._workflow.dag.needrun_jobs() for file in job.log]
        for message in last_errors(logs, since=self._began):
            self._logger.error(f"\n{message}")

    def _say_changes(self) -> None:
        """Says what the jobs change whose outputs are there: Snakemake's reason has all values of both jobs."""
        found: dict[str, list[str]] = {}
        for job in self._jobs:
            if changes := _changes(job):
                more = f" and {len(changes) - _SAID} more" if len(changes) > _SAID else ""
                title = (job.message or job.rule.name).splitlines()[0]
                found.setdefault(f"{'; '.join(changes[:_SAID])}{more}", []).append(title)
        for change, titles in found.items():
            more = f", and {len(titles) - 1} more" if len(titles) > 1 else ""
            self._logger.info(f"Changed: {change} ({titles[0]}{more})")

    def _name_holder(self, record: Any) -> bool:
        """A filter of Snakemake's records that says of its lock on the working folder whose it is."""
        if getattr(record, "exception", "") == "LockException":
            record.msg = name_holder(self._locks)
        return True

    def _end(self) -> None:
        if self._records:
            self._records.end()
        elif self._holds_results:
            remove_second_names(self._results)


_SAID = 3
"""The largest number of changes of a job that are said."""


def _changes(job: Any) -> list[str]:
    """What a planned job changes of the job of its first output, if that is there and says its job."""
    try:
        file = next(file for file in map(str, job.output) if is_artifact(file) and os.path.exists(file))
        return job_changes(read_statement(file), state_job(job, is_planned=True))
    except (InputError, StopIteration):
        return []


def job_changes(stated: Statement, planned: Statement) -> list[str]:
    """What a planned job changes of the job of a file, in few words: "parameters.margin: 0.2 -> 0.3"."""
    found = []
    for path, (before, now) in differences(*(one.values() for one in (stated, planned))).items():
        kind, _, name = path.partition(".")
        if kind == "given":
            found.append(f"{name.removeprefix('job.')}: {_shorten(before)} -> {_shorten(now)}")
        elif kind in _IN_WORDS:
            found.append(_IN_WORDS[kind])
    return list(dict.fromkeys(found))


_IN_WORDS = {"call": "another function", "code": "its code", "contents": "your files"}
_SHORT = 40


def _shorten(value: Any) -> str:
    text = str(spell_none(value))
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


def _is_of_job(file: str, job: Any) -> bool:
    """False for an artifact that says that it is of another job; one that is gone was made, used and deleted."""
    if not is_artifact(file) or not os.path.exists(file):
        return True
    return not job_differences(read_statement(file), state_job(job, is_planned=True))
