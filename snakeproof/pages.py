"""The digest of rows by which statements name a Parquet file, and the check of pages that are mapped into memory."""

import hashlib
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from snakeproof.seals import CHUNK, SHORT, check_chunk, read_seal


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


class Pages:
    """The pages of a sealed Parquet file, each checked when it is first read."""

    def __init__(self, path: str | Path) -> None:
        """Raises `InputError` for a missing file, one without a seal, or one with damage outside its pages."""
        self._path, self._sealed = path, read_seal(path)
        self._unread = np.ones(len(self._sealed.chunks) // SHORT, bool)
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
                chunk = pages[number * CHUNK : min((number + 1) * CHUNK, self._sealed.pages)]
                check_chunk(self._path, self._sealed, number, chunk)
                self._unread[number] = False
        self._any_unread = bool(self._unread.any())


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
