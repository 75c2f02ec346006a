"""Seals: digests with which a file proves that its bytes are those that were written.

A Parquet file has its seal between its pages and its footer, where software that goes by the footer passes it by:

    pages | seal (JSON) | length of the seal, its digest, MARK | footer | length of the footer, PAR1

The seal holds a digest of each 256 KiB of the pages, one of the footer, and one of the rows, by which lineages name the
file. A safetensors file has no such room. There, the lineage in its metadata holds one digest, of all bytes of the file
but the digest's own.
"""

import hashlib
import json
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from densevse.artifacts.files import atomic
from densevse.runtime.errors import InputError

MARK, PARQUET = b"densevse", b"PAR1"
CHUNK = 2**18
SHORT = 8
"""Bytes of the digest of a chunk; damage passes once in 10^19 times."""
BEHIND = 4 + SHORT + len(MARK)
"""Bytes behind the seal: its length, its digest and the mark."""
DIGEST, UNKNOWN = "digest", "0" * 64
"""The key of a file's digest in a lineage, and what a safetensors file has there while it is computed."""
_DIGEST_KEY = f'\\"{DIGEST}\\": \\"'.encode()
"""The key in a safetensors file: lineages are JSON in JSON."""
Place: TypeAlias = tuple[str, int, int, int, int]
_verified: dict[Place, str] = {}
"""Files that this process found whole, by path, size, times and inode, and their digests."""


class RowsDigest:
    """A digest of rows in their order, with all their columns."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, rows: pa.Table) -> None:
        """Adds the next rows. Equal rows in other parts have another digest."""
        for column in rows.combine_chunks().itercolumns():
            for chunk in column.chunks:
                for part in _values(chunk):
                    self._digest.update(part)

    def hexdigest(self) -> str:
        """The digest, 64 hexadecimal digits."""
        return self._digest.hexdigest()


def seal_parquet(path: str | Path, rows: RowsDigest) -> None:
    """Seals a Parquet file with the digest of its `rows`, while it still has a temporary name."""
    with open(path, "r+b") as file:
        pages = _footer_start(path, file)
        chunks = b"".join(map(_short, _chunks(file, pages)))
        footer = file.read()
        stated = {"rows": rows.hexdigest(), "pages": pages, "chunks": chunks.hex(), "footer": _short(footer).hex()}
        text = json.dumps(stated).encode()
        file.seek(pages)
        file.write(text + len(text).to_bytes(4, "little") + _short(text) + MARK + footer)


def seal_safetensors(path: str | Path) -> None:
    """Seals a safetensors file whose lineage has UNKNOWN as its digest, while it still has a temporary name."""
    with open(path, "r+b") as file:
        place = _header(file).index(UNKNOWN.encode())
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(place)
        file.write(digest.encode())


@contextmanager
def sealed(path: str | Path) -> Iterator[Path]:
    """Yields a temporary path for a safetensors file with `lineage.metadata`, which is sealed and moved to `path`.

    Raises `InputError` as `atomic` does.
    """
    with atomic(path) as temporary:
        yield temporary
        seal_safetensors(temporary)


def verified(path: str | Path) -> str:
    """The digest by which lineages name a file. Every byte is checked, unless this process has checked the file before.

    Raises `InputError` if the file is missing, has no seal or is damaged.
    """
    try:
        status = os.stat(path)
    except OSError:
        raise InputError(f"{path}: no such file. Run snakemake with this path as its target to make it.") from None
    place = (str(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    if place not in _verified:
        check = _check_safetensors if Path(path).suffix == ".safetensors" else _check_parquet
        _verified[place] = check(path)
    return _verified[place]


def is_sealed(path: str | Path) -> bool:
    """True for a file with a seal, which files of others and of earlier versions do not have.

    Raises `InputError` for a file that does not end as Parquet does.
    """
    with open(path, "rb") as file:
        if Path(path).suffix == ".safetensors":
            return _DIGEST_KEY in _header(file)
        file.seek(max(0, _footer_start(path, file) - len(MARK)))
        return file.read(len(MARK)) == MARK


class Seal:
    """The seal of a Parquet file, found whole, as is the footer; the pages are checked when they are first read.

    `rows` is the digest of the rows.
    """

    def __init__(self, path: str | Path) -> None:
        """Raises `InputError` for a missing file, one without a seal, or one with damage outside its pages."""
        self._path = path
        stated, self.pages = _stated(path)
        self.rows: str = stated["rows"]
        self._digests = bytes.fromhex(stated["chunks"])
        self._unread = np.ones(len(self._digests) // SHORT, bool)
        self._any_unread = bool(self._unread.any())

    def check(self, data: mmap.mmap, starts: NDArray[np.int64], lengths: NDArray[np.int64] | int) -> None:
        """Checks the pages that hold `lengths` bytes from each of `starts` on; `data` is the mapped file.

        Raises `InputError` if one is damaged.
        """
        if not self._any_unread:
            return
        first, last = starts // CHUNK, (starts + lengths - 1) // CHUNK
        steps = range(int((last - first).max(initial=0)) + 1)
        numbers = np.concatenate([np.minimum(first + step, last) for step in steps])
        unread = np.unique(numbers[self._unread[numbers]]).tolist()
        for number in unread:  # asked for together, as the disk is slow with one page at a time
            data.madvise(mmap.MADV_WILLNEED, number * CHUNK, min(CHUNK, len(data) - number * CHUNK))
        with memoryview(data) as pages:
            for number in unread:
                self.check_chunk(number, pages[number * CHUNK : min((number + 1) * CHUNK, self.pages)])
                self._unread[number] = False
        self._any_unread = bool(self._unread.any())

    def check_chunk(self, number: int, chunk: bytes | memoryview) -> None:
        """Raises `InputError` if a chunk does not have the bytes that were written."""
        if _short(chunk) != self._digests[number * SHORT : (number + 1) * SHORT]:
            raise damaged(self._path, f"in the bytes from {number * CHUNK:,} on")


def damaged(path: str | Path, where: str) -> InputError:
    """The error for a file with other bytes than those that were written."""
    return InputError(
        f"{path}: damaged {where}: these are not the bytes that were written. Delete the file and run snakemake again; "
        "if it happens again, check the disk."
    )


def _check_parquet(path: str | Path) -> str:
    seal = Seal(path)
    with open(path, "rb") as file:
        for number, chunk in enumerate(_chunks(file, seal.pages)):
            seal.check_chunk(number, chunk)
    return seal.rows


def stated_digest(path: str | Path) -> str:
    """The digest in a file's seal: of a Parquet file's rows, or of a safetensors file. Raises `InputError` if none."""
    if Path(path).suffix != ".safetensors":
        return Seal(path).rows
    with open(path, "rb") as file:
        _, stated, _ = _parts(path, file)
        return stated.decode(errors="replace")


def _check_safetensors(path: str | Path) -> str:
    with open(path, "rb") as file:
        before, stated, behind = _parts(path, file)
        digest = hashlib.sha256(before + UNKNOWN.encode() + behind)
        while part := file.read(CHUNK):
            digest.update(part)
    if digest.hexdigest().encode() != stated:
        raise damaged(path, "somewhere")
    return digest.hexdigest()


def _parts(path: str | Path, file: IO[bytes]) -> tuple[bytes, bytes, bytes]:
    """A safetensors file up to its weights: what is before its digest, the digest, and what is behind it."""
    header = _header(file)
    if len(header) < 8 + int.from_bytes(header[:8], "little"):
        raise InputError(f"{path}: not a whole safetensors file. Delete it and run snakemake again.")
    place = header.find(_DIGEST_KEY) + len(_DIGEST_KEY)
    if place < len(_DIGEST_KEY):
        raise _unsealed(path)
    return header[:place], header[place : place + len(UNKNOWN)], header[place + len(UNKNOWN) :]


def _header(file: IO[bytes]) -> bytes:
    """The first bytes of a safetensors file, up to its weights: the length of the header, and the header."""
    length = file.read(8)
    size = int.from_bytes(length, "little")
    room = os.fstat(file.fileno()).st_size - 8
    return length + file.read(min(size, max(0, room)))


def _stated(path: str | Path) -> tuple[dict[str, Any], int]:
    """The contents of a Parquet file's seal, and the number of bytes of its pages."""
    try:
        with open(path, "rb") as file:
            begin = _footer_start(path, file)
            file.seek(max(0, begin - BEHIND))
            behind, footer = file.read(min(BEHIND, begin)), file.read()
            size, digest = int.from_bytes(behind[:4], "little"), behind[4 : 4 + SHORT]
            if not behind.endswith(MARK) or size > begin - BEHIND:
                raise _unsealed(path)
            file.seek(begin - BEHIND - size)
            text = file.read(size)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Run snakemake with this path as its target to make it.") from None
    if _short(text) != digest:
        raise damaged(path, "in its seal")
    stated: dict[str, Any] = json.loads(text)
    if _short(footer).hex() != stated["footer"]:
        raise damaged(path, "in its footer")
    return stated, stated["pages"]


def _footer_start(path: str | Path, file: IO[bytes]) -> int:
    """The place of a Parquet file's footer. Raises `InputError` if the file does not end as Parquet does."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    end = file.read()
    start = size - 8 - int.from_bytes(end[:4], "little")
    if not end.endswith(PARQUET) or start < len(PARQUET):
        raise InputError(f"{path}: not a whole Parquet file (its end is missing). Delete it and run snakemake again.")
    return start


def _chunks(file: IO[bytes], pages: int) -> Iterator[bytes]:
    """The pages of a Parquet file, in chunks."""
    file.seek(0)
    for begin in range(0, pages, CHUNK):
        yield file.read(min(CHUNK, pages - begin))


def _values(array: pa.Array) -> Iterator[Any]:
    """The values of an array as bytes; unused bytes of its buffers and the values below nulls have no part in them."""
    if array.null_count:
        yield np.asarray(array.is_valid())
    values, kind = array.drop_null(), array.type
    if isinstance(kind, pa.BaseExtensionType):
        yield from _values(values.storage)
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        ends = np.frombuffer(values.buffers()[1] or bytes(4), np.int32)[values.offset : values.offset + len(values) + 1]
        yield np.diff(ends)
        yield memoryview(values.buffers()[2] or b"")[ends[0] : ends[-1]]
    elif pa.types.is_list(kind):
        yield np.asarray(values.value_lengths())
        yield from _values(values.flatten())
    elif pa.types.is_fixed_size_list(kind):
        yield from _values(values.flatten())
    elif pa.types.is_struct(kind):
        for field in values.flatten():
            yield from _values(field)
    else:
        yield values.to_numpy(zero_copy_only=False)


def _short(part: bytes | memoryview) -> bytes:
    return hashlib.sha256(part).digest()[:SHORT]


def _unsealed(path: str | Path) -> InputError:
    return InputError(
        f"{path}: expected a file that proves its contents, found one without a seal: of an earlier version, of other "
        "software, or damaged at its end. Delete it and run snakemake again."
    )
