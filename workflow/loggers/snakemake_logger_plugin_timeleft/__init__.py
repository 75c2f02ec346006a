"""Prints after each job the number of jobs done and an estimate of the time left: `snakemake --logger timeleft`.

The folder above this one must be on PYTHONPATH, and Snakemake must not be quiet about progress.

The estimate assumes that jobs share the time as in config/costs.csv, which has the times of scenes' jobs on another
machine. A rule that is not in it counts as an average one, and running jobs count as not started.
"""

import csv
import logging
import sys
import time
from collections.abc import Mapping
from math import ceil
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

COSTS = Path(__file__).parents[3] / "config/costs.csv"
DATASET = "scenes"
UNSAID = {LogEvent.JOB_FINISHED, LogEvent.JOB_STARTED}
FIRST = 30
"""Seconds before the first estimate, which would otherwise rest on a few starts of Python."""


class RunWork:
    """The work of a run's jobs, in seconds of the machine of `costs` (rule -> seconds of a job)."""

    def __init__(self, costs: Mapping[str, float], jobs: Mapping[str, int]) -> None:
        """`jobs` are the numbers of jobs of each rule."""
        self._costs, self._average = costs, sum(costs.values()) / len(costs)
        self._all, self._done = sum(self._rule_seconds(rule) * count for rule, count in jobs.items()), 0.0

    def finish(self, rule: str) -> None:
        """Counts a job of a rule as done."""
        self._done += self._rule_seconds(rule)

    def remaining_seconds(self, elapsed: float) -> float | None:
        """The seconds until all jobs are done, at the pace of the `elapsed` seconds; None if it is too early to say."""
        return elapsed * (self._all - self._done) / self._done if self._done and elapsed >= FIRST else None

    def _rule_seconds(self, rule: str) -> float:
        return self._costs.get(rule, self._average)


def read_costs(dataset: str, file: Path = COSTS) -> dict[str, float]:
    """The seconds of a job of each rule on a data set, from a run recorded in `file`."""
    with file.open(encoding="utf-8") as rows:
        return {row["stage"]: float(row["seconds"]) for row in csv.DictReader(rows) if row["dataset"] == dataset}


def line(done: int, total: int, left: float | None) -> str:
    """The line that is printed after a job."""
    if left is None or done == total:
        return f"{done} of {total} jobs done."
    return f"{done} of {total} jobs done; about {ceil(left / 60)} min left (an estimate)."


class LogHandler(LogHandlerBase):
    """Prints Snakemake's log records as Snakemake does, with another line for each finished job."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self._began, self._rules, self._work = time.monotonic(), {}, None

    def emit(self, record: logging.LogRecord) -> None:
        """Follows the run's jobs, and prints the text of a record."""
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO and self._work is None:
            jobs = {rule: count for rule, count in record.stats.items() if rule != "total"}
            self._began, self._work = time.monotonic(), RunWork(read_costs(DATASET), jobs)
        elif event == LogEvent.JOB_INFO:
            self._rules[record.jobid] = record.rule_name
        elif event == LogEvent.JOB_FINISHED and self._work:
            self._work.finish(self._rules[record.job_id])
        said = self._progress(record) if event == LogEvent.PROGRESS else self.format(record)
        if said and event not in UNSAID:
            print(said, file=sys.stderr, flush=True)

    def _progress(self, record: logging.LogRecord) -> str:
        left = self._work.remaining_seconds(time.monotonic() - self._began) if self._work else None
        return line(record.done, record.total, left)
