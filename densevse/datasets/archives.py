"""Folders, zips and tars, read alike and without unpacking.

Nothing here ever writes a member to disk, and every read is an `os.pread`, which has no file position: threads and
forked workers can share an archive.
"""

import bz2
import gzip
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Self

from densevse.artifacts.files import atomic
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

LARGEST_MEMBER = 1 << 30
"""Bytes. The largest file that is read out of an archive; the data sets' largest, MS-COCO's instances, has 0.3 GB."""

LARGEST_RATIO = 200
"""How much a member may be compressed before it is taken for a bomb. Captions reach about 10, photographs 1."""

DECOMPRESSORS: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
"""By the first bytes of a file."""

DAMAGES = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError)


class Archive(ABC):
    """Files by name below a folder, or inside a zip or tar. Use as a context manager, or let it live with its owner."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @staticmethod
    def open(path: str | Path) -> "Archive":
        """Open a folder, .zip, .tar, or compressed tar (known by their first bytes, not by their names).

        A compressed tar has no random access, and photographs do not shrink: it is uncompressed once, into a file
        beside it that later jobs find again. Raises `InputError` if there is nothing at `path` or something else.
        """
        path = Path(path)
        if path.is_dir():
            return _Folder(path)
        if not path.is_file():
            raise InputError(f"{path}: no such file or folder.")
        try:
            if zipfile.is_zipfile(path):
                return _Zip(path)
            decompressor = _decompressor(path)
            return _Tar(_uncompressed(path, decompressor) if decompressor else path)
        except (*DAMAGES, NotImplementedError, ValueError) as error:  # zipfile answers damaged headers with the latter
            raise InputError(f"{path}: cannot be read as a folder, zip or tar ({error}); obtain it anew.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027, a folder holds nothing open
        """Give back what is held open."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all files, with / between folders, sorted."""

    @abstractmethod
    def __contains__(self, name: str) -> bool:
        """Whether there is a file of that name."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The bytes of a file. Raises `InputError` if it is missing, damaged, or outside the archive."""

    def _missing(self, name: str) -> InputError:
        return InputError(f"{self.path}: has no file {name}.")


class _Folder(Archive):
    def names(self) -> list[str]:
        return sorted(file.relative_to(self.path).as_posix() for file in self.path.rglob("*") if file.is_file())

    def __contains__(self, name: str) -> bool:
        try:
            return (self.path / name).is_file()
        except (OSError, ValueError):  # no file can have such a name
            return False

    def read(self, name: str) -> bytes:
        _check_inside(self.path, [name])
        try:
            return (self.path / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
            raise self._missing(name) from None
        except OSError as error:
            raise InputError(f"{self.path / name}: cannot be read ({error}).") from error


class _File(Archive):
    """An archive that is one file, read at given places; its kind finds the `members`."""

    members: Mapping[str, Any]  # name -> where and how it lies in the file

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

    def names(self) -> list[str]:
        return sorted(self.members)

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def _bytes(self, offset: int, size: int, name: str) -> bytes:
        _check_size(self.path, name, size, size)
        try:
            data = os.pread(self.descriptor, size, offset)
        except OSError as error:  # a place that no file has
            raise InputError(f"{self.path}: {name} cannot be read ({error}); the archive is damaged.") from error
        if len(data) != size:
            raise InputError(f"{self.path}: ends within {name}; the archive is truncated.")
        return data


class _Zip(_File):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with zipfile.ZipFile(path) as archive:
            self.members = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        _check_inside(path, self.members)

    def read(self, name: str) -> bytes:
        if name not in self:
            raise self._missing(name)
        info = self.members[name]
        _check_size(self.path, name, info.compress_size, info.file_size)
        header = self._bytes(info.header_offset, 30, name)
        name_length, extra_length = struct.unpack("<HH", header[26:])
        data = self._bytes(info.header_offset + len(header) + name_length + extra_length, info.compress_size, name)
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(f"{self.path}: {name} is encrypted or compressed in an unusual way; repack the zip.")
        if info.compress_type == zipfile.ZIP_DEFLATED:
            data = self._inflate(data, info.file_size, name)
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise InputError(f"{self.path}: {name} is damaged (its checksum does not match).")
        return data

    def _inflate(self, data: bytes, size: int, name: str) -> bytes:
        try:
            # One byte more than the header claims, so that a longer stream is seen and none is inflated whole.
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, size + 1)
        except zlib.error as error:
            raise InputError(f"{self.path}: {name} is damaged ({error}).") from error


class _Tar(_File):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with tarfile.open(path, "r:") as archive:
            self.members = {_plain(member.name): member for member in archive if _is_whole(member)}
        _check_inside(path, self.members)

    def read(self, name: str) -> bytes:
        if name not in self:
            raise self._missing(name)
        member = self.members[name]
        return self._bytes(member.offset_data, member.size, name)


def base_names(archive: Archive) -> dict[str, list[str]]:
    """The archive's names by file name without folders; what a Mac adds beside each file is left out."""
    found = defaultdict(list)
    for name in archive.names():
        path = PurePosixPath(name)
        if not path.name.startswith("._") and "__MACOSX" not in path.parts:
            found[path.name].append(name)
    return dict(found)


def _is_whole(member: tarfile.TarInfo) -> bool:
    """Whether its bytes lie in the archive as they are; links and devices would lead elsewhere."""
    return member.isreg() and not member.issparse()


def _plain(name: str) -> str:
    return name.removeprefix("./")


def _check_inside(path: Path, names: Iterable[str]) -> None:
    for name in names:
        pure = PurePosixPath(name.replace("\\", "/"))
        if pure.is_absolute() or ".." in pure.parts or (pure.parts and pure.parts[0].endswith(":")):
            raise InputError(f"{path}: refused, as the name {name!r} in it leads out of its folder.")


def _check_size(path: Path, name: str, stored: int, size: int) -> None:
    if size > min(LARGEST_MEMBER, LARGEST_RATIO * max(stored, 1 << 10)):
        raise InputError(f"{path}: refused to read {name}, of which {stored:,} bytes would become {size:,}.")


def _decompressor(path: Path) -> Callable[[Path], Any] | None:
    with open(path, "rb") as file:
        start = file.read(6)
    return next((opener for magic, opener in DECOMPRESSORS.items() if start.startswith(magic)), None)


def _uncompressed(path: Path, decompressor: Callable[[Path], Any]) -> Path:
    """The tar that `path` is when uncompressed, made beside it unless it is there already, with the same time.

    An archive that takes the place of `path` may be older than what was made of the one before.
    """
    target, status = path.with_name(f"{path.name}.uncompressed.tar"), path.stat()
    if target.is_file() and target.stat().st_mtime_ns == status.st_mtime_ns:
        return target
    if not os.access(path.parent, os.W_OK):
        raise InputError(
            f"{path}: a compressed tar is uncompressed once beside itself, but {path.parent} cannot be written to. "
            "Uncompress it yourself, and name the .tar or a folder of the files in the data set's `local`."
        )
    logger.info("uncompressing %s once, into %s", path, target.name)
    limit = LARGEST_RATIO * max(status.st_size, 1 << 10)
    with decompressor(path) as source, atomic(target) as temporary, open(temporary, "wb") as sink:
        while block := source.read(1 << 20):
            if sink.tell() + len(block) > limit:
                raise InputError(f"{path}: refused to uncompress it to more than {limit:,} bytes.")
            sink.write(block)
        sink.close()
        os.utime(temporary, ns=(status.st_atime_ns, status.st_mtime_ns))
    return target
