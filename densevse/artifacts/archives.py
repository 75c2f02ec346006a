"""Reads folders, zips and tars in the same way, without unpacking them.

A file has a plain name (densevse.artifacts.file_names). So a data set's files are found by the name that a person
reads, however a Mac, Windows or an old program encoded it.

Members are never written to disk. Every read is an `os.pread`, which has no file position, so threads and forked
workers can share an archive.
"""

import bz2
import hashlib
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cached_property, lru_cache, partial
from glob import escape
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from densevse.artifacts.file_names import ESCAPED, decode_name, letters, members_by_name, plain_name, zip_name
from snakeproof.errors import InputError
from snakeproof.files import atomic_file
from snakeproof.logs import logger

LARGEST_MEMBER = 1 << 30
"""Bytes. The largest file that is read from an archive; the largest of the data sets, MS-COCO's instances, has 0.3 GB.
"""

LARGEST_RATIO = 200
"""The largest compression ratio of a member; a larger one is treated as a bomb. Captions reach about 10, photographs 1.
"""

DECOMPRESSORS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": partial(zlib.decompressobj, 31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ": lzma.LZMADecompressor,
}
"""Kinds of archives by the first bytes of the file."""

METHODS = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "XZ", 96: "JPEG", 98: "PPMd"}
"""The names of methods of compression in a zip, by their numbers, of those that are not read."""

TIMESTAMP = ".snakemake_timestamp"
"""A file that Snakemake puts into the copy of a folder in a bucket."""

DAMAGES = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError)


class Archive(ABC):
    """Files by plain name in a folder, zip, tar, or the rows of a Parquet file.

    Use it as a context manager, or keep it open as long as its owner. Hidden files, and those that programs make beside
    others, are left out.
    """

    members: Mapping[str, Any]
    """The place of each file in the archive, by plain name."""

    hidden: Sequence[str] = ()
    """The names of the files that are left out."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @staticmethod
    def open(path: str | Path) -> "Archive":
        """Opens a folder, .zip, .tar, compressed tar or .parquet, recognised by the first bytes, not by the name.

        A compressed tar has no random access. It is uncompressed once, into a file beside it that later jobs reuse;
        photographs do not grow by that. Raises `InputError` if `path` does not exist or is something else.
        """
        path = Path(path)
        if path.is_dir():
            return _Folder(path)
        if not path.is_file():
            raise InputError(f"{path}: no such file or folder.")
        try:
            if is_parquet(path):
                return _Table(path)
            if zipfile.is_zipfile(path) and not tarfile.is_tarfile(path):  # a tar may end with a zip
                return _Zip(path)
            decompressor = _decompressor(path)
            return _Tar(_uncompress_tar(path, decompressor) if decompressor else path)
        except (*DAMAGES, NotImplementedError, ValueError) as error:  # zipfile raises the latter for damaged headers
            raise InputError(
                f"{path}: cannot be read as a folder, zip or tar ({error}). Obtain it again; or, if it is another kind "
                "of archive, unpack it and name the folder."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027, a folder holds nothing open
        """Closes the file."""

    def names(self) -> list[str]:
        """The sorted names of all files."""
        return sorted(self.members)

    def __contains__(self, name: str) -> bool:
        """True if there is a file of that name."""
        return name in self.members

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The bytes of a file. Raises `InputError` if it is missing, damaged, or outside the archive."""

    def _missing_error(self, name: str) -> InputError:
        alike = self._names_by_letters.get(letters(name), [])[:5]
        instead = f"; it has {', '.join(alike)}" if alike else ""
        if any(ESCAPED.search(other) for other in alike):
            instead += ", where % stands for a byte that is not UTF-8: rename the file"
        return InputError(f"{self.path}: has no file {name}{instead}.")

    def _find_members(self, named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        members, self.hidden = members_by_name(self.path, named)
        return members

    @cached_property
    def _names_by_letters(self) -> Mapping[str, list[str]]:
        found = defaultdict(list)
        for name in self.names():
            found[letters(name)].append(name)
        return dict(found)


class _Folder(Archive):
    """A folder. Links to folders are followed, except in circles and to folders that are reached without them."""

    @cached_property
    def members(self) -> Mapping[str, str]:  # type: ignore[override]
        """The path inside the folder of each file, by plain name; the folder is listed on first use."""
        return self._find_members((decode_name(name), name) for name in _walk(self.path))

    def __contains__(self, name: str) -> bool:
        archive, inner = self._archive_and_name(name)
        return inner in archive if archive else self._place(name) is not None

    def read(self, name: str) -> bytes:
        _check_inside(self.path, [name])
        archive, inner = self._archive_and_name(name)
        if archive:
            return archive.read(inner)
        place = self._place(name)
        if place is None:
            raise self._missing_error(name)
        try:
            return place.read_bytes()
        except OSError as error:
            raise InputError(f"{place}: cannot be read ({error}).") from error

    def _place(self, name: str) -> Path | None:
        if os.path.isfile(self.path / name):
            return self.path / name
        return self.path / self.members[name] if name in self.members else None

    def _archive_and_name(self, name: str) -> tuple["Archive | None", str]:
        """The Parquet file or tar in which a member is, and the member's name there; None for other members."""
        for outer in reversed(PurePosixPath(name).parents[:-1]):
            if (self.path / outer).is_file():
                return self._archive(self.path / outer), str(PurePosixPath(name).relative_to(outer))
        return None, name

    @cached_property
    def _archive(self) -> Callable[[Path], Archive]:
        return lru_cache(None)(Archive.open)


class _Table(Archive):
    """A Parquet file with a file in each row of a column, as the Hugging Face Hub stores images.

    A member is called <column>/<row>, with rows from 1. A group of rows that was read is kept for the next rows.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._metadata = pq.read_metadata(path)
        self._leaves = bytes_columns(self._metadata.schema.to_arrow_schema())
        self._ends = list(
            accumulate(self._metadata.row_group(n).num_rows for n in range(self._metadata.num_row_groups))
        )
        self._group = lru_cache(2)(self._read_group)

    @cached_property
    def members(self) -> Mapping[str, tuple[str, int]]:  # type: ignore[override]
        """The column and row (from 0) of each member, by plain name."""
        rows = range(self._metadata.num_rows)
        return {f"{column}/{row + 1}": (column, row) for column in self._leaves for row in rows}

    def read(self, name: str) -> bytes:
        if name not in self:
            raise self._missing_error(name)
        column, row = self.members[name]
        group = bisect_right(self._ends, row)
        try:
            cell = self._group(group, self._leaves[column])[
                row - self._ends[group]
            ].as_py()  # counted from the end of the group
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.path}: {name} cannot be read ({error}); the file is damaged.") from error
        data = cell["bytes"] if isinstance(cell, dict) else cell
        if data is None:
            raise InputError(
                f"{self.path}: {name} has no bytes; obtain a file in which the images are, not their paths."
            )
        return bytes(data)

    def _read_group(self, group: int, leaf: str) -> pa.ChunkedArray:
        rows = self._metadata.row_group(group)
        chunk = next(c for c in map(rows.column, range(rows.num_columns)) if c.path_in_schema == leaf)
        _check_size(self.path, f"column {leaf}", chunk.total_compressed_size, chunk.total_uncompressed_size)
        with pq.ParquetFile(self.path, metadata=self._metadata) as file:
            return file.read_row_group(group, columns=[leaf]).column(0)


def is_parquet(path: Path) -> bool:
    """True if a file starts as Parquet does."""
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def bytes_columns(schema: pa.Schema) -> dict[str, str]:
    """The columns with the bytes of files, and each one's path: plain bytes, or the Hub's pairs of bytes and path."""
    found = {}
    for column in schema:
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            found[column.name] = column.name
        elif pa.types.is_struct(column.type) and column.type.get_field_index("bytes") >= 0:
            found[column.name] = f"{column.name}.bytes"
    return found


class _File(Archive):
    """An archive in one file, which is read at given places; subclasses find the `members`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.descriptor = os.open(path, os.O_RDONLY)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            self.close()

    def _read_range(self, offset: int, size: int, name: str) -> bytes:
        _check_size(self.path, name, size, size)
        try:
            data = os.pread(self.descriptor, size, offset)
        except OSError as error:  # a place outside every file
            raise InputError(f"{self.path}: {name} cannot be read ({error}); the archive is damaged.") from error
        if len(data) != size:
            raise InputError(f"{self.path}: ends within {name}; the archive is truncated.")
        return data

    def _check_rest(self, end: int) -> None:
        """Raises `InputError` if a byte after the `end` is not zero: most programs do not read what is there."""
        place = end
        while block := os.pread(self.descriptor, 1 << 20, place):
            if block.count(0) < len(block):
                place += len(block) - len(block.lstrip(b"\0"))
                raise InputError(
                    f"{self.path}: seems to end at byte {end:,}, but something begins at byte {place:,}. It is "
                    "damaged, or holds several archives: obtain it again, or unpack all of them into one folder."
                )
            place += len(block)


class _Zip(_File):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        files = [info for info in members if not (info.is_dir() or info.filename.endswith("\\"))]
        begin = max(0, path.stat().st_size - (1 << 16) - 22)  # a comment, which ends the zip, has 65,535 bytes at most
        tail = os.pread(self.descriptor, (1 << 16) + 22, begin)
        last = tail.rindex(b"PK\5\6")
        self._check_rest(begin + last + 22 + int.from_bytes(tail[last + 20 : last + 22], "little"))
        if min((info.header_offset for info in members), default=0) and os.pread(self.descriptor, 4, 0) == b"PK\3\4":
            raise InputError(f"{path}: holds two zips, one after the other; unpack each of them into one folder.")
        if files and all(map(_packing, files)):  # once, and not for each image
            check_packing(path, files[0])
        _check_inside(path, (info.filename for info in files))
        self.members = self._find_members((zip_name(info), info) for info in files)

    def read(self, name: str) -> bytes:
        if name not in self:
            raise self._missing_error(name)
        info = self.members[name]
        _check_size(self.path, name, info.compress_size, info.file_size)
        header = self._read_range(info.header_offset, 30, name)
        name_length, extra_length = struct.unpack("<HH", header[26:])
        data = self._read_range(info.header_offset + len(header) + name_length + extra_length, info.compress_size, name)
        check_packing(self.path, info)
        if info.compress_type == zipfile.ZIP_DEFLATED:
            data = self._inflate(data, info.file_size, name)
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise InputError(f"{self.path}: {name} is damaged (its checksum does not match).")
        return data

    def _inflate(self, data: bytes, size: int, name: str) -> bytes:
        try:
            # One byte more than the header states, so that a longer stream is noticed but never inflated whole.
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, size + 1)
        except zlib.error as error:
            raise InputError(f"{self.path}: {name} is damaged ({error}).") from error


class _Tar(_File):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with tarfile.open(path, "r:", encoding="utf-8", errors="surrogateescape") as archive:
            files = [member for member in archive if member.islnk() or _is_whole(member)]
            if path.stat().st_size < archive.offset + tarfile.BLOCKSIZE:
                logger.warning(
                    "%s: ends without the mark of a tar's end; it may be truncated, so compare its size", path
                )
            self._check_rest(archive.offset)
        _check_inside(path, (member.name for member in files))
        self.members = self._find_members((member.name, member) for member in files)

    def read(self, name: str) -> bytes:
        if name not in self:
            raise self._missing_error(name)
        member = self.members[name]
        if member.islnk():  # a hard link to an earlier file, which must not be a link itself
            target = plain_name(member.linkname)
            if target not in self or self.members[target].islnk():
                raise InputError(f"{self.path}: {name} is a link to {target}, which is not in it.")
            member = self.members[target]
        return self._read_range(member.offset_data, member.size, name)


def _packing(info: zipfile.ZipInfo) -> str:
    """A zip member's unreadable way of storage, in words; empty if it can be read."""
    if info.flag_bits & 1:
        return "encrypted"
    usual = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    return "" if usual else f"compressed by {METHODS.get(info.compress_type, f'method {info.compress_type}')}"


def check_packing(path: Path, info: zipfile.ZipInfo) -> None:
    """Raises `InputError` for a member of a zip that is encrypted, or compressed by another method than Deflate."""
    if how := _packing(info):
        raise InputError(
            f"{path}: {info.filename} is {how}, which is not read; repack the zip with Deflate, without a password."
        )


def base_names(archive: Archive) -> dict[str, list[str]]:
    """The archive's names by file name without folders."""
    found = defaultdict(list)
    for name in archive.names():
        found[PurePosixPath(name).name].append(name)
    return dict(found)


def list_files(folder: str | Path, pattern: str) -> list[Path]:
    """The files below a folder whose names without folders match a pattern, in any case; hidden ones are left out."""
    members = _Folder(Path(folder)).members.values()
    return sorted(Path(folder, name) for name in members if fnmatch(PurePosixPath(name).name.lower(), pattern.lower()))


def _walk(folder: Path) -> Iterator[str]:
    """The paths of all files below a folder, relative to it. A folder behind links is read once."""
    folders, links, seen = [""], list[str](), set[tuple[int, int]]()
    while folders or links:
        name = folders.pop() if folders else links.pop(0)
        try:
            status = os.stat(folder / name)
            entries = [] if (status.st_dev, status.st_ino) in seen else list(os.scandir(folder / name))
        except OSError as error:
            logger.warning("%s: skipped (%s)", folder / name, error)
            continue
        seen.add((status.st_dev, status.st_ino))
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = f"{name}/{entry.name}" if name else entry.name
            if os.path.isdir(entry):
                (links if entry.is_symlink() else folders).append(path)
            elif os.path.isfile(entry) and entry.name != TIMESTAMP:
                yield path


def _is_whole(member: tarfile.TarInfo) -> bool:
    """True if the member's bytes are stored uncompressed. Symbolic links and devices lead elsewhere."""
    return member.isreg() and not member.issparse()


def _check_inside(path: Path, names: Iterable[str]) -> None:
    for name in names:
        pure = PurePosixPath(name.replace("\\", "/"))
        if pure.is_absolute() or ".." in pure.parts or (pure.parts and pure.parts[0].endswith(":")):
            raise InputError(f"{path}: refused, as its member {name!r} leads out of the folder.")


def check_ratio(path: Path, name: str, stored: int, size: int) -> None:
    """Raises `InputError` if the `stored` bytes of a part of a file would become so many that they are a bomb."""
    if size > LARGEST_RATIO * max(stored, 1 << 10):
        raise _size_error(path, name, stored, size)


def _check_size(path: Path, name: str, stored: int, size: int) -> None:
    if size > LARGEST_MEMBER:
        raise _size_error(path, name, stored, size)
    check_ratio(path, name, stored, size)


def _size_error(path: Path, name: str, stored: int, size: int) -> InputError:
    return InputError(
        f"{path}: refused to read {name}, of which {stored:,} bytes would become {size:,}. If they should, store it "
        "uncompressed."
    )


def _decompressor(path: Path) -> Callable[[], Any] | None:
    with open(path, "rb") as file:
        start = file.read(6)
    return next((made for magic, made in DECOMPRESSORS.items() if start.startswith(magic)), None)


def _uncompress(path: Path, decompressor: Callable[[], Any]) -> Iterator[bytes]:
    """The bytes of compressed streams, one after the other. Few are read at once, as they may become very many.

    Raises errors of `DAMAGES` if the last stream is not whole, or if other bytes than zeros are behind a stream.
    """
    stream, begun = decompressor(), False
    with open(path, "rb") as file:
        while data := file.read(1 << 12):
            while data := data if begun else data.lstrip(b"\0"):
                yield stream.decompress(data)
                begun, data = not stream.eof, stream.unused_data
                stream = stream if begun else decompressor()
    if begun:
        raise EOFError("its compressed data end too early")


def _uncompress_tar(path: Path, decompressor: Callable[[], Any]) -> Path:
    """The uncompressed tar of `path`, made beside it unless it exists. Its name says of which contents it is."""
    fingerprint = _fingerprint(path)
    target = path.with_name(f"{path.name}.{fingerprint}.uncompressed.tar")
    if target.is_file():
        return target
    if not os.access(path.parent, os.W_OK):
        raise InputError(
            f"{path}: a compressed tar is uncompressed once beside itself, but {path.parent} cannot be written to. "
            "Uncompress it yourself, and name the .tar or a folder of the files in the data set's `local`."
        )
    logger.info("uncompressing %s once, into %s", path, target.name)
    limit = LARGEST_RATIO * max(path.stat().st_size, 1 << 10)
    with atomic_file(target) as temporary, open(temporary, "wb") as sink:
        for block in _uncompress(path, decompressor):
            if sink.tell() + len(block) > limit:
                raise InputError(f"{path}: refused to uncompress it to more than {limit:,} bytes.")
            sink.write(block)
    for ending in (".uncompressed.tar", f".{'?' * len(fingerprint)}.uncompressed.tar"):
        for other in path.parent.glob(f"{escape(path.name)}{ending}"):
            if other != target:  # of contents that `path` had before
                other.unlink(missing_ok=True)
    return target


def _fingerprint(path: Path) -> str:
    """Differs for compressed files of other contents: their last bytes are checksums of the whole."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - (1 << 12)))
        return hashlib.sha256(b"%d " % size + file.read()).hexdigest()[:8]
