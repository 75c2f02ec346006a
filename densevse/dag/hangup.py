"""Ends a run whose terminal was closed (SIGHUP) as SIGTERM to all of its processes does.

Snakemake has no handler for SIGHUP. It would end at once, leave its working folder locked, and leave the jobs running.
"""

import signal
from contextlib import suppress
from typing import Any

import psutil


def end_by_hangup() -> None:
    """Lets SIGHUP end this process's jobs, whose trainings save a checkpoint, and then this process.

    Snakemake must have set its handler of SIGTERM. With `nohup`, SIGHUP stays ignored.
    """
    end = signal.getsignal(signal.SIGTERM)

    def hang_up(*given: Any) -> None:
        if callable(end):
            end(*given)
        for job in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                job.terminate()

    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, hang_up)
