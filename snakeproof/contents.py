"""Digests of the contents of the user's files, so that jobs rerun exactly when the contents change.

Snakemake compares times. If an older file replaces a file (mv, cp -p and unzip keep times), Snakemake sees no change;
if a file was only touched, it sees one. So Snakemake ignores the times of the user's files, and the `params` of each
rule that reads them have a digest of their contents.

A file is read again only if its size, times or inode differ from those of the last reading.

A job in a pod sees only the bucket of results. So a rule copies each of the user's files into it once, below the folder
of downloads, and jobs read the copy. A path that is already below that folder was put into the bucket by hand.
"""

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from snakeproof.errors import InputError
from snakeproof.files import checksum, file_facts, is_settled, write_text

_IN_BUCKET = re.compile(r"(s3|gs|gcs|az)://[^/]+/.")
"""Addresses that a storage plugin of Snakemake's reads."""
_KEPT = ".snakemake/snakeproof-contents"
ABSENT = "absent"
UNREAD = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX"})
"""Names of files that file managers put into folders and no reader reads; those that begin with ._ are a Mac's too."""

MENTIONED = 1 << 30
"""Bytes. Before reading more, the user is told why."""

Facts = list[Any]  # size, time of change, time of status change, inode, sha256

_LINKS = ".snakemake/snakeproof"
"""A folder of links: the project's files have the same paths in a checkout, a moved one and an installed package."""

PROJECT = f"{_LINKS}/project"

CARRIED = "carried"
"""The folder of imported models, which only jobs on the machine of Snakemake read."""


def link_folders(**folders: str | Path) -> dict[str, str]:
    """Make a link in the working folder to each of the project's folders; name -> its path.

    Raises `InputError` if one cannot be made.
    """
    links = {name: f"{_LINKS}/{name}" for name in folders}
    try:
        if os.path.islink(_LINKS):  # an earlier version's, to the project itself
            os.unlink(_LINKS)
        os.makedirs(_LINKS, exist_ok=True)
        for name, link in links.items():
            folder = os.path.abspath(folders[name])
            if not os.path.islink(link) or os.readlink(link) != folder:
                new = f"{link}.{os.getpid()}"
                os.symlink(folder, new)
                os.replace(new, link)
    except OSError as error:
        raise InputError(
            f"cannot make links to the project in {_LINKS} ({error.strerror}); run snakemake in a folder that you may "
            "write to."
        ) from error
    return links


def is_of_project(path: str) -> bool:
    """True for a path of one of the project's own files."""
    return path.startswith(f"{_LINKS}/")


def is_in_bucket(path: str) -> bool:
    """True for a path that is an address in a bucket."""
    return bool(_IN_BUCKET.match(path))


@dataclass(frozen=True)
class Marks:
    """Functions that mark a path for Snakemake; without them a path is just itself."""

    timeless: Callable[[str], str] = str  # its time does not count
    here: Callable[[str], str] = str  # it lies where Snakemake runs, even where results lie in a bucket
    in_bucket: Callable[[str], str] = str  # it is an address in a bucket


class Uploads:
    """The places of the user's files in a bucket, below the folder `resources`."""

    def __init__(self, resources: str) -> None:
        self._resources, self.folder = PurePosixPath(resources), f"{resources}/own"

    def is_uploaded(self, path: str) -> bool:
        """True for a file that is in the bucket: one below `resources`, unless it is of an imported model."""
        resource = PurePosixPath(path)
        return resource.is_relative_to(self._resources) and not resource.is_relative_to(self._resources / CARRIED)

    def bucket_path(self, path: str) -> str:
        """The path of a copy in the bucket, the same on every machine."""
        whole = os.path.abspath(path) if path.startswith("..") else path
        return f"{self.folder}/{'absolute' if whole.startswith('/') else 'relative'}/{whole.lstrip('/')}"


class Contents:
    """The contents of the user's files and folders."""

    def __init__(
        self,
        kept: str | Path = _KEPT,
        is_made: Callable[[str], bool] = lambda path: False,
        marks: Marks | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        """Facts on files are cached in the folder `kept`; if they are missing or damaged, files are read again.

        `is_made` is true for paths that a rule makes, and `say` prints a message.
        """
        self._kept, self._marks, self._say = Path(kept), marks or Marks(), say
        self.uploads: Uploads | None = None  # where the user's files are copied to, if results lie in a bucket
        self._is_made, self._held = cache(is_made), cache(self._read_digest)

    def mark_local_path(self, path: str) -> str:
        """A file of the user's or the project's that lies where Snakemake runs, marked for it."""
        return self._marks.timeless(self._marks.here(path))

    def mark_path(self, path: str) -> str:
        """A path, marked for Snakemake if it is the user's or the project's; its copy if results lie in a bucket.

        What lies in a bucket has the time of its upload, which Snakemake compares as it does that of a result. A copy
        must have one: Snakemake looks at nothing else of a job that reads what another one is about to make.
        """
        if is_in_bucket(path):
            return self._marks.in_bucket(path)
        if self._is_made(path):
            return path
        if is_of_project(path):
            return self.mark_local_path(path)
        if self.uploads is None:
            return self._marks.timeless(path)
        return path if self._is_there(path) else self.uploads.bucket_path(path)

    def digests(self, *paths: str) -> list[str]:
        """The digests of those of `paths` that belong to the user or the project and lie on this machine, in order.

        The place and name of a file or folder do not count, but the names of files inside a folder do. Raises
        `InputError` that names an unreadable file.
        """
        return [self._held(str(path)) for path in paths if not (self._is_there(path) or self._is_made(path))]

    def _is_there(self, path: str) -> bool:
        """True for a path in a bucket that no rule makes or copies."""
        return is_in_bucket(path) or (self.uploads is not None and self.uploads.is_uploaded(path))

    def _read_digest(self, path: str) -> str:
        kept = self._kept / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.json"
        before, now = _read_cache(kept), time.time_ns()
        if not os.path.exists(path):  # files obtained by hand may be gone, once everything is made from them
            return _digest({name: facts[4] for name, facts in before.items()}) if before else ABSENT
        try:
            files = sorted(_walk_files(path))
            changed = {name: at for name, at, facts in files if before.get(name, [])[:4] != facts}
            digests = {name: facts[4] for name, facts in before.items()} | self._checksums(path, changed)
        except OSError as error:
            raise InputError(f"{path}: cannot read {error.filename} ({error.strerror}).") from error
        found = {name: [*facts, digests[name]] for name, _, facts in files}
        settled = {name: facts for name, facts in found.items() if is_settled(facts, now)}
        if settled != before:
            _write_cache(settled, kept)
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


def _walk_files(
    path: str, name: str = "", inside: frozenset[tuple[int, int]] = frozenset()
) -> Iterator[tuple[str, str, Facts]]:
    """The name inside `path`, the path and the facts (without the sha256) of each file; links are followed once."""
    try:
        status = os.stat(path)
    except OSError:  # missing, or a broken link
        return
    if stat.S_ISREG(status.st_mode):
        yield name, path, file_facts(status)
    place = (status.st_dev, status.st_ino)
    if stat.S_ISDIR(status.st_mode) and place not in inside:
        for entry in os.listdir(path):
            if entry not in UNREAD and not entry.startswith("._"):
                yield from _walk_files(f"{path}/{entry}", f"{name}/{entry}", inside | {place})


def _read_cache(kept: Path) -> dict[str, Facts]:
    try:
        return {str(name): [*facts[:4], str(facts[4])] for name, facts in json.loads(kept.read_bytes()).items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _write_cache(found: dict[str, Facts], kept: Path) -> None:
    """Writes the facts for the next run; a folder that is not writable is no error."""
    with suppress(OSError, InputError):
        write_text(json.dumps(found), kept)
