"""Ends a run after SIGTERM or SIGHUP.

Snakemake's own handler of SIGTERM may wait for ever, and it has none of SIGHUP: it would end at once, leave its working
folder locked, and leave the jobs running.
"""

import _thread
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil


def end_by_signals() -> None:
    """Lets SIGTERM end this process after its jobs; SIGHUP ends the jobs too, whose trainings save a checkpoint.

    Snakemake must have set its handler of SIGTERM. With `nohup`, SIGHUP stays ignored.
    """
    end = signal.getsignal(signal.SIGTERM)
    assert callable(end)

    def hang_up(*given: Any) -> None:
        end(*given)  # first, or the scheduler could start others in the place of the jobs that end
        for job in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                job.terminate()

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
