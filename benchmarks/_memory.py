"""The memory that some work takes, by the kernel's account of this process (Linux)."""

import ctypes
import threading
from collections.abc import Callable
from pathlib import Path

SAMPLED = 0.005
"""Seconds between two readings of the memory."""
PAGE = 4
"""KiB of a page, the least that the kernel counts."""


def extra_memory(work: Callable[[], None]) -> float:
    """MB by which the peak resident size of this process rises above its value before."""
    ctypes.CDLL(None).malloc_trim(0)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak
    work()
    return (_status("VmHWM") - before) / 1024


def extra_anonymous_memory(work: Callable[[], None]) -> float:
    """MB by which the anonymous memory of this process, all but mapped files, rises above its value before.

    At least a page, so that a ratio of two is finite: small work fits in memory that the process has already.
    """
    ctypes.CDLL(None).malloc_trim(0)
    before, done, found = _status("RssAnon"), threading.Event(), [PAGE]

    def look() -> None:
        while not done.wait(SAMPLED):
            found.append(_status("RssAnon") - before)

    watcher = threading.Thread(target=look)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return max(found) / 1024


def _status(key: str) -> int:
    """A value of /proc/self/status, in KiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(key)))
