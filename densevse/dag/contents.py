"""Digests of the contents of the user's files, so that jobs rerun exactly when the contents change.

Snakemake compares times. If an older file replaces a file (mv, cp -p and unzip keep times), Snakemake sees no change;
if a file was only touched, it sees one. So Snakemake ignores the times of the user's files, and the `params` of each
rule that reads them have a digest of their contents.

A file is read again only if its size, times or inode differ from those of the last reading.
"""

import hashlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from densevse.artifacts.files import checksum
from densevse.runtime.errors import InputError

_KEPT = ".snakemake/densevse-contents"
ABSENT = "absent"
UNREAD = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX"})
"""Names of files that file managers put into folders and no reader reads; those that begin with ._ are a Mac's too."""

COARSEST = 2 * 10**9
"""Nanoseconds. A file that changed more recently may change again without a new time."""

MENTIONED = 1 << 30
"""Bytes. Before reading more, the user is told why."""

Facts = list[Any]  # size, time of change, time of status change, inode, sha256


class Contents:
    """The contents of the user's files and folders."""

    def __init__(
        self,
        kept: str | Path = _KEPT,
        is_made: Callable[[str], bool] = lambda path: False,
        timeless: Callable[[str], str] = str,
        say: Callable[[str], None] = print,
    ) -> None:
        """Facts on files are cached in the folder `kept`; if they are missing or damaged, files are read again.

        `is_made` is true for paths that a rule makes, `timeless` marks a path whose time Snakemake ignores, and `say`
        prints a message.
        """
        self._kept, self._timeless, self._say = Path(kept), timeless, say
        self._is_made, self._held = cache(is_made), cache(self._read)

    def own(self, path: str) -> str:
        """A path, marked for Snakemake if it is the user's."""
        return path if self._is_made(path) else self._timeless(path)

    def digests(self, *paths: str) -> list[str]:
        """The digests of those of `paths` that belong to the user, in order.

        The place and name of a file or folder do not count, but the names of files inside a folder do. Raises
        `InputError` that names an unreadable file.
        """
        return [self._held(str(path)) for path in paths if not self._is_made(path)]

    def _read(self, path: str) -> str:
        kept = self._kept / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.json"
        before, now = _read_kept(kept), time.time_ns()
        if not os.path.exists(path):  # files obtained by hand may be gone, once everything is made from them
            return _digest({name: facts[4] for name, facts in before.items()}) if before else ABSENT
        try:
            files = sorted(_files(path))
            changed = {name: at for name, at, facts in files if before.get(name, [])[:4] != facts}
            digests = {name: facts[4] for name, facts in before.items()} | self._checksums(path, changed)
        except OSError as error:
            raise InputError(f"{path}: cannot read {error.filename} ({error.strerror}).") from error
        found = {name: [*facts, digests[name]] for name, _, facts in files}
        settled = {name: facts for name, facts in found.items() if abs(now - facts[2]) > COARSEST}
        if settled != before:
            _write_kept(settled, kept)
        return _digest({name: facts[4] for name, facts in found.items()})

    def _checksums(self, path: str, files: dict[str, str]) -> dict[str, str]:
        """Name -> sha256 of files, given as name -> path."""
        size = sum(os.path.getsize(file) for file in files.values())
        if size > MENTIONED:
            self._say(f"{path}: reading {size / 1e9:.1f} GB once, to notice later changes")
        with ThreadPoolExecutor() as pool:
            return dict(zip(files, pool.map(checksum, files.values()), strict=True))


def _digest(checksums: dict[str, str]) -> str:
    """The digest of the names and checksums of a folder's files; of a file, its checksum alone."""
    if list(checksums) == [""]:
        return checksums[""][:16]
    return hashlib.sha256(json.dumps(list(checksums.items())).encode()).hexdigest()[:16]


def _files(
    path: str, name: str = "", inside: frozenset[tuple[int, int]] = frozenset()
) -> Iterator[tuple[str, str, Facts]]:
    """The name inside `path`, the path and the facts (without the sha256) of each file; links are followed once."""
    try:
        status = os.stat(path)
    except OSError:  # missing, or a broken link
        return
    if stat.S_ISREG(status.st_mode):
        yield name, path, [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    place = (status.st_dev, status.st_ino)
    if stat.S_ISDIR(status.st_mode) and place not in inside:
        for entry in os.listdir(path):
            if entry not in UNREAD and not entry.startswith("._"):
                yield from _files(f"{path}/{entry}", f"{name}/{entry}", inside | {place})


def _read_kept(kept: Path) -> dict[str, Facts]:
    try:
        return {str(name): [*facts[:4], str(facts[4])] for name, facts in json.loads(kept.read_bytes()).items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _write_kept(found: dict[str, Facts], kept: Path) -> None:
    """Writes the facts for the next run; a folder that is not writable is no error."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False, encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(file.name, kept)
    except OSError:
        return
