"""Writes files and folders that are either whole under their final name or absent."""

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from snakeproof.errors import InputError

REFUSALS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG, errno.ENAMETOOLONG}
FULL = 1 << 16
"""Free bytes below which a file system counts as full."""


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Yields a temporary path beside `path`; on success flushes it to disk and moves it to `path` in one step.

    On an error the temporary file is removed, and an earlier file at `path` stays as it was. Raises `InputError` if the
    disk is full or not writable, or if `path` is a folder or below a file.
    """
    path = Path(path)
    with explain_write_errors(path):
        temporary = _make_temporary(path)
    try:
        with explain_write_errors(path):
            yield temporary
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
            _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Turns a full disk, a quota, a limit or a read-only folder into an `InputError` while `path` is written."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        # torch and safetensors report a full disk by their own exceptions
        if getattr(error, "errno", None) not in REFUSALS and not _is_full(path.parent):
            raise
        raise InputError(
            f"cannot write {path}: {error}. Make room there or make the folder writable (or name other folders as "
            "`results` and `resources` in config/config.yaml), then run the same command again: complete files stay."
        ) from error


def _is_full(folder: Path) -> bool:
    return folder.is_dir() and shutil.disk_usage(folder).free < FULL


def _make_temporary(path: Path) -> Path:
    if path.is_dir():
        raise InputError(f"cannot write {path}: a folder is there; name a file.")
    _make_parent(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(descriptor)
    return Path(name)


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(f"cannot write {path}: {error.filename} is no folder; name another path.") from error


def write_text(text: str, path: str | Path) -> None:
    """Writes `text` to `path` as UTF-8, atomically."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def copy(source: str | Path, output: str | Path) -> None:
    """Copies a file, or a folder with all in it, to `output`, atomically."""
    if Path(source).is_dir():
        with whole_folder(Path(output)) as temporary:
            shutil.copytree(source, temporary, dirs_exist_ok=True)
            shutil.rmtree(output, ignore_errors=True)  # an earlier copy, which no folder can be renamed to
    else:
        with atomic_file(output) as temporary:
            shutil.copyfile(source, temporary)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yields a temporary folder beside `folder`, and renames it on success; an error removes it.

    Raises `InputError` if the disk is full or not writable, or if `folder` is below a file.
    """
    with explain_write_errors(folder):
        _make_parent(folder)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part"))
    try:
        with explain_write_errors(folder):
            yield temporary
            temporary.chmod(0o755)
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


COARSEST = 2 * 10**9
"""Nanoseconds. A file that changed more recently may change again without a new time."""


def file_facts(status: os.stat_result) -> list[int]:
    """Size, times and inode, in nanoseconds: a file with the same ones is taken for unchanged if it `is_settled`."""
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def is_settled(facts: Sequence[int], now: int) -> bool:
    """False for a file that changed so shortly before `now` that it may change again without a new time."""
    return abs(now - facts[2]) > COARSEST


def checksum(path: str | Path, algorithm: str = "sha256") -> str:
    """The hexadecimal digest of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
