"""The lock of a run on a folder of results or downloads, so that one run at a time makes files there.

Snakemake locks the working folder, which does not keep a second checkout from the same results, behind a link or at an
absolute path. So a run also locks `<folder>/.run.lock` before its first job. The operating system holds this lock (for
NFS, its server does), and drops it when the process ends, however that happens. The file names the run, also the last
one that has ended.

Jobs take no lock, on whichever machine they are, and neither does a dry run.

Where Snakemake finds its own lock on the working folder, the same file tells whose that is (`name_holder`).
"""

import atexit
import errno
import fcntl
import json
import os
import platform
import shlex
import sys
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

from snakeproof.errors import InputError
from snakeproof.files import explain_write_errors

UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Errors of file systems that have no locks."""
UNLOCK = "SNAKEPROOF_UNLOCK"
"""The environment variable by which a program that starts Snakemake says how it unlocks a working folder."""


class RunLock:
    """The lock on a folder, which exists when a run is planned and is taken before its first job."""

    def __init__(self, folder: str, key: str, warn: Callable[[str], None] = print) -> None:
        """`key` is the key of the configuration that names the folder."""
        self.folder = folder
        self._key, self._warn, self._path = key, warn, Path(folder, ".run.lock")
        self._planned_after = self._path.read_text(encoding="utf-8") if self._path.is_file() else ""
        # The text alone does not tell: a run that is killed after this plan leaves the text that it had before.
        self._was_held = self.holder()[1] is True

    def take(self) -> None:
        """Locks the folder until this process ends.

        Raises `InputError` if another run holds it, or has held it since the plan, which is then of older files.
        """
        self._file = self._open_file()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(self._refusal(self._file.read())) from None
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            self._warn(f"{self._path}: cannot be locked ({error.strerror}). Start no other run that writes there.")
        if self._was_held or self._file.read() != self._planned_after:
            raise InputError(
                f"{self.folder}: another run has ended there since this one was planned. Run the same command again."
            )
        run = describe_run()
        self._write(run)
        # Not emptied, so that a run that was planned before this one began sees that it has been there.
        atexit.register(self._write, json.dumps({"ended": json.loads(run)["id"]}))

    def holder(self) -> tuple[str, bool | None]:
        """The text by which a folder names the last run there, empty if that has ended, and whether it lives.

        None if this machine cannot know.
        """
        try:
            with self._path.open(encoding="utf-8") as file:
                text = file.read()
                machine = _read_run(text).get("machine")
                if not machine:  # nothing is locked here, so that a run which begins just now is not refused
                    return "", False
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return text, True
        except OSError as error:
            return ("", False) if error.errno not in UNSUPPORTED else (text, None)
        return text, False if machine == platform.node() else None

    def _open_file(self) -> IO[str]:
        if self._path.is_symlink():
            raise InputError(f"{self._path}: expected a file, found a link, which others may use. Remove it.")
        with explain_write_errors(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            return os.fdopen(os.open(self._path, flags, 0o666), "r+", encoding="utf-8")

    def _write(self, text: str) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(text)
        self._file.flush()

    def _refusal(self, holder: str) -> str:
        return (
            f"{self.folder}: {name_run(holder)} makes files there now, and two runs would mix theirs. Wait until it "
            f"has ended; or end it; or let `{self._key}` name another folder."
        )


def lock_folders(locks: Iterable[RunLock], outputs: Iterable[str]) -> list[str]:
    """Takes those locks in whose folders `outputs` are planned, and returns these folders.

    Raises `InputError` as `RunLock.take` does.
    """
    planned = [Path(output) for output in outputs]
    needed = [lock for lock in locks if any(path.is_relative_to(lock.folder) for path in planned)]
    for lock in needed:
        lock.take()
    return [lock.folder for lock in needed]


def name_holder(locks: Iterable[RunLock]) -> str:
    """Whose lock Snakemake has found on its working folder, and what to do, as a message."""
    unlock = os.environ.get(UNLOCK) or f"snakemake --unlock {shlex.join(sys.argv[1:])}"
    holders = [lock.holder() for lock in locks]
    text, lives = max((one for one in holders if one[0]), key=lambda one: one[1] is True, default=("", None))
    if lives:
        return f"{name_run(text)} makes files here now. Wait until it has ended, or end it."
    if not text:
        return (
            "Another run is just beginning here, or was killed as it began. Run the same command again in a minute; if "
            f"this comes again, unlock the folder:\n  {unlock}"
        )
    if lives is None:
        return (
            f"{name_run(text)} has locked this folder, and whether it goes on cannot be seen from {platform.node()}. "
            f"Wait until it has ended, or, if it was killed, unlock the folder:\n  {unlock}"
        )
    return f"{name_run(text)} was killed, and this folder is still locked; no run is at work. Unlock it:\n  {unlock}"


def describe_run() -> str:
    """The text, in JSON, by which a folder or a bucket names this run while it makes files there."""
    began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    run = {"machine": platform.node(), "process": os.getpid(), "folder": os.getcwd(), "began": began}
    return json.dumps({**run, "id": str(uuid.uuid4())})


def name_run(text: str) -> str:
    """The run of which `text` is `describe_run`, for a message. The text of a folder is empty while it is written."""
    run = _read_run(text)
    try:
        return f"process {run['process']} on {run['machine']}, a run in {run['folder']} since {run['began']},"
    except LookupError:
        return "another run"


def _read_run(text: str) -> dict[str, Any]:
    """The values of `describe_run`; none of a run that has ended, or whose text cannot be read."""
    try:
        run = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return run if isinstance(run, dict) else {}
