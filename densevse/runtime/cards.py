"""Runs one job on each GPU: a job locks its card, and the kernel unlocks it when the job ends or dies.

Snakemake counts GPUs but assigns none, so four jobs on a machine with four cards would all use the first card.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from densevse.runtime.logs import logger

WAIT = 2.0
"""Seconds between two attempts to lock a card."""

_held: list[IO[str]] = []
"""Locks of this process, kept open until it ends."""


def lock_card(names: Sequence[str], jobs_per_card: int = 1, folder: Path | None = None) -> int:
    """Locks a card that fewer than `jobs_per_card` jobs of this user use; returns its place in `names`.

    `names` are those of the visible cards, the same in every job on the machine (such as UUIDs, as numbers count from
    the first visible one). Waits while every card is in use, and logs that.
    """
    folder = folder or _folder()
    waits = False
    while True:
        for share in range(jobs_per_card):  # a free card before a shared one
            for place, name in enumerate(names):
                if _lock(folder / f"{name}-{share}.lock"):
                    return place
        if not waits:
            logger.info("waiting for a GPU: other jobs use all of %s", ", ".join(names))
            waits = True
        time.sleep(WAIT)


def _lock(path: Path) -> bool:
    file = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    _held.append(file)
    return True


def _folder() -> Path:
    """The folder with this user's locks on this machine."""
    found = Path(tempfile.gettempdir(), f"densevse-gpus-{os.getuid()}")
    found.mkdir(mode=0o700, exist_ok=True)
    return found
