"""Ends a run after SIGTERM, SIGHUP or Ctrl-C (SIGINT).

Snakemake's own handler of SIGTERM may wait for ever, and it has none of SIGHUP: it would end at once, leave its working
folder locked, and leave the jobs running. At Ctrl-C its jobs would end without a checkpoint, each with a traceback.
"""

import _thread
import logging
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import TracebackType
from typing import Any

import psutil

INTERRUPTED = "Interrupted. The same command goes on from here."
STATUS = 128 + signal.SIGINT
"""The exit status of an interrupted program, as shells have it."""
JOBS_PREFIX = "set -euo pipefail; trap '' INT; "
"""What the shell of a job does first: Snakemake's own prefix, and it passes Ctrl-C by, as this run ends its jobs."""


def end_by_signals() -> None:
    """Lets SIGTERM end this process after its jobs; SIGHUP ends the jobs too, whose trainings save a checkpoint.

    Snakemake must have set its handler of SIGTERM. With `nohup`, SIGHUP stays ignored.
    """
    end = signal.getsignal(signal.SIGTERM)
    assert callable(end)

    def hang_up(*given: Any) -> None:
        end(*given)  # first, or the scheduler could start others in the place of the jobs that end
        _end_jobs(set())

    signal.signal(signal.SIGTERM, _threaded_handler(end))
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _threaded_handler(hang_up))


def _threaded_handler(answer: Callable[..., Any]) -> Callable[..., None]:
    """A handler that calls another one in a thread of its own.

    Snakemake's takes the scheduler's lock. Python calls handlers in the main thread: if that thread holds the lock, it
    would wait for itself. `threading` has locks of its own, which it may hold just as well.
    """

    def handler(*given: Any) -> None:
        _thread.start_new_thread(answer, given)

    return handler


def _end_jobs(ended: set[psutil.Process]) -> None:
    """Sends SIGTERM to the jobs of this process that are not in `ended`, and adds them."""
    for job in set(psutil.Process().children(recursive=True)) - ended:
        ended.add(job)
        with suppress(psutil.NoSuchProcess):
            job.terminate()


class Interruption(logging.Filter):
    """Ctrl-C in a run: jobs end as by SIGTERM, and the terminal has one line of it. It filters Snakemake's records."""

    def __init__(self) -> None:
        """From now on Ctrl-C has no traceback."""
        super().__init__()
        self.has_happened = False
        self._ended, self._before = set[psutil.Process](), sys.excepthook
        sys.excepthook = self._say

    def end_jobs(self, shell: Any) -> None:
        """From now on Ctrl-C also ends the jobs, which Snakemake starts by its `shell`."""
        if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
            with suppress(ImportError):
                # Snakemake does, for its first job; and from then on Ctrl-C would not end its wait for jobs, as polars
                # puts a handler of its own before Python's (findings/polars_interrupt.sh).
                import_module("polars")
            shell.prefix(JOBS_PREFIX)
            signal.signal(signal.SIGINT, self._interrupt)

    def exit(self, logger: logging.Logger) -> None:
        """Ends this process after its jobs have ended."""
        psutil.wait_procs(self._ended)
        logger.removeFilter(self)
        logger.error(INTERRUPTED)
        sys.exit(STATUS)

    def filter(self, record: logging.LogRecord) -> bool:
        """False for what Snakemake says of jobs that Ctrl-C ended."""
        return not (self.has_happened and (record.levelno >= logging.ERROR or hasattr(record, "event")))

    def _interrupt(self, *_: Any) -> None:
        if not self.has_happened:
            self.has_happened = True
            _thread.start_new_thread(self._keep_ending, ())
        raise KeyboardInterrupt

    def _keep_ending(self) -> None:
        while True:  # a job may just be starting
            _end_jobs(self._ended)
            time.sleep(0.2)

    def _say(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print(INTERRUPTED, file=sys.stderr)
        else:
            self._before(kind, error, trace)
