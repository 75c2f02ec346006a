"""The output of a job: a log file with times and levels, and progress on a terminal."""

import errno
import gc
import io
import logging
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from snakeproof.errors import InputError

logger = logging.getLogger("snakeproof")

Item = TypeVar("Item")


RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in a unit of the memory that getrusage reports."""

SECONDS_BETWEEN_LINES = 60.0
"""The time after which `progress` writes another line into the log."""

USED = "{:.1f} s, with {:.1f} s of CPU and {:.0f} MB of memory at most"


class _LogFile(logging.FileHandler):
    """A log file that takes any text; invalid text, like a name that is not UTF-8, is written as an escape."""

    def __init__(self, path: str) -> None:
        super().__init__(path, mode="w", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, logging's name
        """Reports a lost line on standard error, e.g. on a full disk; logging itself would print a traceback."""
        print(f"{self.baseFilename}: a line is lost ({sys.exc_info()[1]})", file=sys.stderr)

    def close(self) -> None:
        """Closes the file; errors were reported when the lines were written."""
        with suppress(OSError):
            super().close()


@contextmanager
def log_job(log_file: str, advice: Mapping[str, str] = {}) -> Iterator[None]:
    """Runs a rule's script with a log in `log_file`; warnings and a failure are also written to standard error.

    The last lines of a failure are the error, what to do, and the log file's name. An `InputError` already says what to
    do, as does the `SystemExit` of an interrupted job. Any other error has its traceback in the log; `advice` says what
    to do after errors of libraries, by the names of their types.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        Path(log_file).parent.mkdir(parents=True, exist_ok=True)
        handler = _LogFile(log_file)
    except OSError as error:
        print(f"\n{log_file}: cannot write the log ({error}). Make its folder writable.", file=sys.stderr)
        raise SystemExit(1) from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    told = logging.StreamHandler(sys.stderr)
    told.addFilter(lambda record: record.levelno == logging.WARNING)  # errors are told below
    told.setFormatter(logging.Formatter("warning: %(message)s"))
    logger.addHandler(told)
    began = time.monotonic()
    try:
        yield
        logger.info("done in %s", resource_usage(time.monotonic() - began))
    except InputError as error:
        logger.error("%s", error)
        print(f"\n{error}\n(log: {log_file})", file=sys.stderr)
        raise SystemExit(1) from None
    except SystemExit as error:
        logger.error("%s", error)
        raise
    except Exception as error:
        logger.exception("unexpected failure")
        print(f"\n{type(error).__name__}: {error}\n{_advice(error, log_file, advice)}", file=sys.stderr)
        raise SystemExit(1) from None
    finally:
        logger.removeHandler(told)
        root.removeHandler(handler)
        handler.close()
        # The interpreter's last garbage collection takes a third of a second with torch loaded, and nothing needs it.
        gc.freeze()


_RECORD = re.compile(r"^\d{4}-\d\d-\d\d [\d:,]+ (\w+) ", re.MULTILINE)
"""The beginning of a message in a log, with its level."""


def last_errors(log_files: Iterable[str], since: float) -> list[str]:
    """The errors with which jobs ended after the time `since`, each once, with its log; other logs are passed by."""
    written = [file for file in log_files if Path(file).is_file() and Path(file).stat().st_mtime >= since]
    found = {message: file for file in written if (message := _last_error(Path(file)))}
    return [f"{message}\n(log: {file})" for message, file in found.items()]


def _last_error(log: Path) -> str:
    """The error at the end of a log, of a traceback its last line; empty if the log ends otherwise."""
    text = log.read_text(encoding="utf-8", errors="backslashreplace")
    *_, last = [None, *_RECORD.finditer(text)]
    if last is None or last[1] != "ERROR":
        return ""
    message = text[last.end() :].strip()
    return message.splitlines()[-1] if "\nTraceback " in message else message


_FULL = "The disk is full: make room there, or in the folder of temporary files ({temporary}; TMPDIR names another)"
_OF_ERRNO = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: "A file may not become so large here: raise the limit (ulimit -f), or use another file system",
    errno.ENAMETOOLONG: "A name is too long for this file system: use a folder with a shorter path, or shorter names",
}


def _advice(error: Exception, log_file: str, of_types: Mapping[str, str]) -> str:
    """Says what the user should do after an unexpected error."""
    if type(error).__name__ in of_types:  # by name, as not every job loads the library
        return f"{of_types[type(error).__name__]} The traceback is in {log_file}."
    if isinstance(error, OSError) and error.errno in _OF_ERRNO:
        advice = _OF_ERRNO[error.errno].format(temporary=tempfile.gettempdir())
        return f"{advice}, and run the same command again. The traceback is in {log_file}."
    return (
        "This is an error in the program or on the machine: run the same command again, and if it fails again, report "
        f"it with the traceback in {log_file}."
    )


def resource_usage(seconds: float) -> str:
    """The resources that a job used, as `USED`: these seconds, and CPU time and memory with its child processes.

    The memory is that of the largest process. `USED` is read by who plans costs.
    """
    usages = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return USED.format(seconds, processor, max(usage.ru_maxrss for usage in usages) * RSS_UNIT / 2**20)


def progress(items: Iterable[Item], what: str, total: int | None = None, beside: str | None = None) -> Iterator[Item]:
    """Yields `items` with a progress bar on a terminal, and a log line at the start, every minute and at the end.

    `beside` stands beside the bar of one part of a whole, which leaves its line to the bar of the next part.
    """
    from tqdm import tqdm  # jobs alone have it

    of = "" if total is None else f" of {total}"
    logger.info("%s: started%s", what, "" if total is None else f", {total} to do")
    done, logged = 0, time.monotonic()
    bar = tqdm(items, what, total, beside is None, sys.stderr, disable=None, dynamic_ncols=True, postfix=beside)
    for item in bar:
        yield item
        done += 1
        if (now := time.monotonic()) - logged >= SECONDS_BETWEEN_LINES:
            logged = now
            logger.info("%s: %d%s done", what, done, of)
    logger.info("%s: %d done", what, done)
