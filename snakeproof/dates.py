"""Dates of files, by which Snakemake tells what is older than its inputs.

Snakemake dates what a job made by the clock of its own machine, and throws away what is then older than an input. So
before the first job, inputs that a rule made and that are dated later than now get today's date if clocks may differ by
so much, and are refused otherwise. The dates of the user's files do not count (snakeproof.contents).
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from snakeproof.errors import InputError

CLOCKS_DIFFER = 600
"""Seconds by which the clocks of machines that share a folder may differ."""


def future_date_warnings(*folders: str) -> Iterator[str]:
    """A warning for each folder with a file that is dated later than now."""
    latest = time.time() + CLOCKS_DIFFER
    for folder in folders:
        for path in sorted(Path(folder).glob("*/*")):
            if path.lstat().st_mtime > latest:
                yield _date_message(path, folder)
                break


def settle_dates(files: Iterable[str], folders: Iterable[str], is_made: Callable[[str], bool]) -> None:
    """Dates those of `files` that a rule made in one of `folders` no later than now.

    Raises `InputError` for one that is dated later than clocks may differ.
    """
    now = time.time()
    for file in dict.fromkeys(files):
        inside = [folder for folder in folders if Path(file).is_relative_to(folder)]
        if inside and os.path.exists(file) and os.stat(file).st_mtime > now and is_made(file):
            if os.stat(file).st_mtime > now + CLOCKS_DIFFER:
                raise InputError(_date_message(file, inside[0]))
            os.utime(file, (now, now))


def _date_message(path: str | Path, folder: str) -> str:
    dated = time.strftime("%Y-%m-%d %H:%M", time.gmtime(os.lstat(path).st_mtime))
    return (
        f"{path} is dated {dated} UTC, later than now, so everything made from it seems older and runs again each "
        f"time. Check the clock, then run: find {folder} -newermt now -exec touch -d @$(date +%s) {{}} +"
    )
