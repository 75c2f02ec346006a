"""How a job speaks: to its rule's log file with time and level, and to a terminal with progress."""

import gc
import io
import logging
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from densevse.runtime.errors import InputError

logger = logging.getLogger("densevse")

Item = TypeVar("Item")


RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in a unit of the memory that getrusage tells of."""

USED = "{:.1f} s, with {:.1f} s of CPU and {:.0f} MB of memory at most"


class _LogFile(logging.FileHandler):
    """A log that takes any text: what is no valid one, like a name that is not UTF-8, is written as an escape."""

    def __init__(self, path: str) -> None:
        super().__init__(path, mode="w", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, logging's name
        """Say on standard error that a line is lost, as on a full disk; logging itself would print a traceback."""
        print(f"{self.baseFilename}: a line is lost ({sys.exc_info()[1]})", file=sys.stderr)

    def close(self) -> None:
        """Close the file; what it could not take was said when it was written."""
        with suppress(OSError):
            super().close()


@contextmanager
def job(log_file: str) -> Iterator[None]:
    """Run a rule's script: log to `log_file`; on failure say there, and on standard error, what to do next.

    The last lines of a failure are the error itself, what to do, and the log file's name: an `InputError` already
    says what to do, as does the `SystemExit` of an interrupted training; any other error has its traceback in the log.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        Path(log_file).parent.mkdir(parents=True, exist_ok=True)
        handler = _LogFile(log_file)
    except OSError as error:
        print(f"\n{log_file}: the log cannot be written ({error}). Make its folder one that can.", file=sys.stderr)
        raise SystemExit(1) from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    began = time.monotonic()
    try:
        yield
        logger.info("done in %s", used(time.monotonic() - began))
    except InputError as error:
        logger.error("%s", error)
        print(f"\n{error}\n(log: {log_file})", file=sys.stderr)
        raise SystemExit(1) from None
    except SystemExit as error:
        logger.error("%s", error)
        raise
    except Exception as error:
        logger.exception("unexpected failure")
        print(
            f"\n{type(error).__name__}: {error}\nThis is a mistake of densevse, or the machine's: run the same command "
            f"again, and if it fails again, report it with the traceback in {log_file}.",
            file=sys.stderr,
        )
        raise SystemExit(1) from None
    finally:
        root.removeHandler(handler)
        handler.close()
        # The interpreter's last look for garbage takes a third of a second where torch is loaded; nothing needs it.
        gc.freeze()


def used(seconds: float) -> str:
    """What a job used, as `USED`: these seconds, and the CPU time and memory of its process and those that it started.

    The memory is that of the largest process. densevse/report/costs.py reads it.
    """
    usages = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return USED.format(seconds, processor, max(usage.ru_maxrss for usage in usages) * RSS_UNIT / 2**20)


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield `items` with a progress bar on a terminal, and a line in the log at the start and the end."""
    logger.info("%s: started%s", what, "" if total is None else f", {total} to do")
    done = 0
    for item in tqdm(items, desc=what, total=total, disable=None, file=sys.stderr, dynamic_ncols=True):
        yield item
        done += 1
    logger.info("%s: %d done", what, done)
