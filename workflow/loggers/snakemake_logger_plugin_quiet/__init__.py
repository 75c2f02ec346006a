"""Prints a line for each job that is done, and what else concerns the user: `densevse run` without --verbose.

The folder above this one must be on PYTHONPATH. Snakemake's own log, below .snakemake/log, has all of its messages.
"""

import logging
import sys
import time
from pathlib import Path

import snakemake
from snakemake.common import NOTHING_TO_BE_DONE_MSG
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

SNAKEMAKE = Path(snakemake.__file__).parent
OF_JOBS = ("RuleException:\nCalledProcessError", "WorkflowError:\nAt least one job did not complete")
"""The beginnings of errors that say no more than that a job failed: the job has said why."""
CLEAR = "\r\033[K"
"""Removes the line in which a job shows its progress; it writes the next one below."""


def duration(seconds: float) -> str:
    """A time in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class LogHandler(LogHandlerBase):
    """Prints one line of each job, warnings, errors, and what the project's own files say."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self._jobs, self._total, self._done, self._failed = {}, 0, 0, False

    def emit(self, record: logging.LogRecord) -> None:
        """Prints what concerns the user of a record; all of it in a dry run."""
        if self.common_settings.dryrun:
            print(self.format(record), flush=True)
        elif text := self._text(record):
            print(f"{CLEAR if sys.stderr.isatty() else ''}{text}", file=sys.stderr, flush=True)

    def _text(self, record: logging.LogRecord) -> str:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self._total = record.stats["total"]
            return f"{self._total} jobs"
        if event == LogEvent.JOB_INFO:
            self._jobs[record.jobid] = (record.rule_msg or record.rule_name).splitlines()[0], time.monotonic()
        elif event == LogEvent.JOB_FINISHED:
            self._done += 1
            return f"{self._done} of {self._total} done: {self._job(record.job_id)}"
        elif event == LogEvent.JOB_ERROR:
            self._failed = True
            return f"failed: {self._job(record.jobid)}"
        elif event == LogEvent.ERROR:
            return self._error(record.getMessage())
        return record.getMessage() if event is None and self._is_said(record) else ""

    def _job(self, number: int) -> str:
        title, began = self._jobs[number]
        return f"{title} ({duration(time.monotonic() - began)})"

    def _error(self, text: str) -> str:
        """An error in the words that `densevse plan` has for it."""
        from densevse.command.shared import reason  # found once the Snakefile is read

        return "" if text.startswith(OF_JOBS) else reason(text)

    def _is_said(self, record: logging.LogRecord) -> bool:
        """True for what is not Snakemake's own course, and for the place of its log if a job failed."""
        if not Path(record.pathname).is_relative_to(SNAKEMAKE):
            return True
        text = record.getMessage()
        if self._failed:
            return text.startswith("Complete log")
        return record.levelno >= logging.WARNING or text.startswith(NOTHING_TO_BE_DONE_MSG)
