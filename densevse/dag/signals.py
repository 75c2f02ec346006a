"""Ends a run after SIGTERM or SIGHUP.

Snakemake's own handler of SIGTERM may wait for ever, and it has none of SIGHUP: it would end at once, leave its working
folder locked, and leave the jobs running.
"""

import _thread
import signal
from contextlib import suppress
from typing import Any

import psutil


def end_by_signals() -> None:
    """Lets SIGTERM end this process after its jobs; SIGHUP ends the jobs too, whose trainings save a checkpoint.

    Snakemake must have set its handler of SIGTERM. With `nohup`, SIGHUP stays ignored.
    """
    end = signal.getsignal(signal.SIGTERM)

    def terminate(*given: Any) -> None:
        # Snakemake's handler takes the scheduler's lock. Python calls handlers in the main thread: if that thread holds
        # the lock, it would wait for itself. `threading` has locks of its own, which it may hold just as well.
        if callable(end):
            _thread.start_new_thread(end, given)

    def hang_up(*given: Any) -> None:
        terminate(*given)
        for job in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                job.terminate()

    signal.signal(signal.SIGTERM, terminate)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, hang_up)
