"""The feature store: Parquet files whose vectors are memory-mapped.

Each file has the columns of its schema and one more, `vector`: a required list of required Float16 (or Float32), PLAIN,
uncompressed, without dictionary, one data page per row group. So the values of a row group's vectors are contiguous and
can be memory-mapped, while the file remains ordinary Parquet for other software. pandas reads arrays of float16, DuckDB
lists of FLOAT:

    frame = pd.read_parquet("results/scenes/features/scenes_net/whole/00-of-01.parquet")
    vectors = np.stack(frame["vector"])

    SELECT image_id, list_dot_product(vector, vector) FROM 'results/scenes/features/scenes_net/whole/*.parquet'

A grid of cells is an Arrow tensor of fixed shape. Arrow keeps the shape; other software reads the values as one flat
list, row by row.
"""

import math
import mmap
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import DTypeLike, NDArray

from snakeproof.errors import InputError, describe_differences
from snakeproof.files import atomic_file
from snakeproof.pages import Pages, RowsDigest
from snakeproof.schema import ORIGIN, Column, Schema, arrow_table, check, check_rules
from snakeproof.seals import seal_parquet
from snakeproof.statements import current_statement, merge_statements

VECTOR = "vector"
VALUES = f"{VECTOR}.list.element"  # as Parquet calls the values of a list
GROUP_ROWS, GROUP_BYTES = 1024, 2**24  # the most of a row group, which is held in memory until it is full
RESIDENT = 2**31
"""Bytes of a store's files that stay mapped into memory at most, beside those of the last call.

The kernel takes mapped pages back when it needs room; but until then they count as the job's memory, by which some
clusters end it, and MS-COCO's regions have 19 GB.
"""
AROUND = 2**16
"""Bytes that the kernel maps around one that is read, where it has them."""


class FeatureWriter:
    """Writes a feature file by row groups, in bounded memory; the file appears under its name only when whole.

    A context manager. `schema` describes the columns beside the vector, `shape` and `dtype` (float16 or float32) are
    those of one row's vector or grid. The file states the job in progress; `found` is what only the job knows, and must
    be equal in all shards.
    """

    def __init__(self, path: str | Path, schema: Schema, shape: Sequence[int], dtype: DTypeLike, **found: Any) -> None:
        self.path, self.schema, self.shape, self.dtype = Path(path), schema, tuple(shape), np.dtype(dtype)
        self._statement = current_statement(found)
        vector = Column(VECTOR, vector_type(self.shape, self.dtype), f"{self.dtype.name} values of shape {self.shape}")
        self._full = replace(schema, columns=(*schema.columns, vector))
        row_bytes = math.prod(self.shape) * self.dtype.itemsize
        self._group = np.empty((min(GROUP_ROWS, max(1, GROUP_BYTES // row_bytes)), *self.shape), self.dtype)
        self._rows: list[pd.DataFrame] = []
        self._filled = 0
        self._digest = RowsDigest()

    def __enter__(self) -> Self:
        with ExitStack() as stack:  # leaves nothing behind if the file cannot be begun, as on a full disk
            temporary = stack.enter_context(atomic_file(self.path))
            stack.push(partial(self._seal, temporary))
            self._file = stack.enter_context(self._parquet_writer(temporary))
            stack.push(self._finish)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._open.__exit__(kind, error, trace)

    def append(self, rows: pd.DataFrame, vectors: NDArray[Any]) -> None:
        """Appends `rows` (the schema's columns) and their `vectors` `(rows, *shape)`, converted to the stored type.

        Raises `InputError` if shape or columns do not match, or if a vector is not finite; it names the first such row.
        Raises it as `check_rules` does, too.
        """
        check_rules(rows, self.schema, self.path)
        rows = rows.drop(columns=ORIGIN, errors="ignore")
        if vectors.shape != (len(rows), *self.shape):
            raise InputError(f"{self.path}: expected vectors of shape {(len(rows), *self.shape)}, got {vectors.shape}.")
        with np.errstate(over="ignore"):  # reported below, with the row
            stored = vectors.astype(self.dtype, copy=False)
        finite = np.isfinite(stored).all(axis=tuple(range(1, stored.ndim)))
        if not finite.all():
            raise InputError(
                f"{self.path}: the vector of {rows.iloc[int(finite.argmin())].to_dict()} is not finite as "
                f"{self.dtype.name}; check the network's weights, mean and std, or store float32."
            )
        for start in range(0, len(rows), len(self._group)):
            self._add(rows.iloc[start : start + len(self._group)], stored[start : start + len(self._group)])

    def _add(self, rows: pd.DataFrame, vectors: NDArray[Any]) -> None:
        now = min(len(rows), len(self._group) - self._filled)
        for part in (slice(0, now), slice(now, len(rows))):
            self._group[self._filled : self._filled + len(vectors[part])] = vectors[part]
            self._filled += len(vectors[part])
            self._rows.append(rows.iloc[part])
            if self._filled == len(self._group):
                self._flush()

    def _flush(self) -> None:
        if not self._filled:
            return
        table = arrow_table(pd.concat(self._rows, ignore_index=True), self.schema, self.path)
        columns = [*table.columns, self._vectors(self._group[: self._filled])]
        group = pa.Table.from_arrays(columns, schema=self._file.schema)
        self._digest.add(group)
        self._file.write_table(group, row_group_size=self._filled)
        self._rows, self._filled = [], 0

    def _finish(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()
            self._file.add_key_value_metadata(self._full.metadata(self._statement))

    def _seal(self, written: Path, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            seal_parquet(written, self._digest.hexdigest())

    def _vectors(self, group: NDArray[Any]) -> pa.Array:
        vector = vector_type(self.shape, self.dtype)
        values = pa.Array.from_buffers(vector.value_type, group.size, [None, pa.py_buffer(group)])
        if len(self.shape) == 1:
            return pa.FixedSizeListArray.from_arrays(values, type=vector)
        return pa.ExtensionArray.from_storage(
            vector, pa.FixedSizeListArray.from_arrays(values, type=vector.storage_type)
        )

    def _parquet_writer(self, path: Path) -> pq.ParquetWriter:
        others = [column.name for column in self.schema.columns]
        return pq.ParquetWriter(
            path,
            self._full.arrow,
            compression=dict.fromkeys(others, "zstd") | {VALUES: "none"},
            use_dictionary=others,
            write_statistics=others,
            data_page_version="1.0",
            data_page_size=2**31 - 1,
            write_batch_size=GROUP_BYTES,
            max_rows_per_page=GROUP_ROWS,
        )


def vector_type(shape: tuple[int, ...], dtype: np.dtype[Any]) -> pa.DataType:
    """The Arrow type of a vector (length,), a required list of required values, or of a grid, a tensor."""
    value = pa.from_numpy_dtype(dtype)
    if len(shape) == 1:
        return pa.list_(pa.field("element", value, nullable=False), shape[0])
    return pa.fixed_shape_tensor(value, shape)


class FeatureStore:
    """The shards of a feature artifact, or of embeddings, as one array on disk.

    `rows` holds the columns of `schema`, one row for each vector, in the order of `paths`; `shape`, `dtype` and
    `row_bytes` are those of one row's vector or grid; `statement` says what the vectors were made from.

    Raises `InputError` if a file is missing, truncated or not an artifact of this schema, or if shards differ in shape,
    dtype or what they were made from.
    """

    def __init__(self, paths: Iterable[str | Path], schema: Schema) -> None:
        files = [Path(path) for path in paths]
        if not files:
            raise InputError(f"{schema.name}: a feature store needs at least one file; none was given.")
        for path in files:
            check(path, schema)
        described = [_read_layout(path) for path in files]
        _check_shards(files, described)
        self.schema = schema
        self.shape: tuple[int, ...] = described[0]["shape"]
        self.dtype: np.dtype[Any] = described[0]["dtype"]
        self.statement = merge_statements(files)
        names = [column.name for column in schema.columns]
        length = math.prod(self.shape)
        self.row_bytes = length * self.dtype.itemsize
        self._pages = [Pages(path) for path in files]
        # Per file, item i is the `row_bytes` bytes from byte i on; so a vector is an item wherever it begins.
        self._maps = [_map_file(path) for path in files]
        self._items = [_overlapping_items(mapped, self.row_bytes) for mapped in self._maps]
        self._touched, self._large = 0, sum(map(len, self._maps)) > RESIDENT
        offsets = [_vector_offsets(path, length, self.dtype.itemsize) for path in files]
        for path, pages, mapped in zip(files, self._pages, self._maps, strict=True):
            _check_columns(path, pages, mapped)
        self.rows = pd.concat([pq.read_table(path, columns=names).to_pandas() for path in files], ignore_index=True)
        self._file = np.repeat(np.arange(len(files)), [len(part) for part in offsets])
        self._offset = np.concatenate(offsets)

    def __len__(self) -> int:
        return len(self.rows)

    def gather(self, indices: Sequence[int] | NDArray[np.int64]) -> NDArray[Any]:
        """The vectors of the rows `indices`, `(n, *shape)`, in the stored type.

        Raises `IndexError` for a row that does not exist, and `InputError` if the file is damaged there.
        """
        wanted = np.asarray(indices, dtype=np.int64)
        file, offset = self._file[wanted], self._offset[wanted]
        gathered = np.empty(len(wanted), self._items[0].dtype)
        for number in np.flatnonzero(np.bincount(file)):
            here = np.flatnonzero(file == number)
            self._pages[number].check(self._maps[number], offset[here], gathered.itemsize)
            gathered[here] = self._items[number][offset[here]]
        if self._large:
            self._release_pages(gathered.nbytes + AROUND * len(wanted))
        vectors: NDArray[Any] = gathered.view(self.dtype).reshape(len(wanted), *self.shape)
        return vectors

    def _release_pages(self, touched: int) -> None:
        """Count what was mapped at most; where that is too much, map nothing: the files stay in the kernel's cache."""
        self._touched += touched
        if self._touched > RESIDENT:
            self._touched = 0
            for mapped in self._maps:
                mapped.madvise(mmap.MADV_DONTNEED)


def _read_layout(path: Path) -> dict[str, Any]:
    names = pq.read_schema(path)
    vector = names.field(VECTOR).type if VECTOR in names.names else None
    if isinstance(vector, pa.FixedShapeTensorType):
        shape = tuple(vector.shape)
    elif isinstance(vector, pa.FixedSizeListType):
        shape = (vector.list_size,)
    else:
        raise _layout_error(path)
    return {"shape": shape, "dtype": np.dtype(vector.value_type.to_pandas_dtype())}


def _check_shards(files: Sequence[Path], described: Sequence[dict[str, Any]]) -> None:
    for path, found in zip(files, described, strict=True):
        if found != described[0]:
            raise InputError(
                f"{path}: of other features than {files[0]}: {describe_differences(described[0], found)}. Delete the "
                "wrong one and run snakemake again."
            )


def _check_columns(path: Path, pages: Pages, mapped: mmap.mmap) -> None:
    """Checks what is read of a file at once: the columns beside the vector, and the headers of the vectors' pages."""
    footer = pq.read_metadata(path)
    groups = map(footer.row_group, range(footer.num_row_groups))
    read = [
        (
            column.dictionary_page_offset or column.data_page_offset,
            min(LONGEST_HEADER if column.path_in_schema == VALUES else math.inf, column.total_compressed_size),
        )
        for group in groups
        for column in map(group.column, range(group.num_columns))
    ]
    starts, lengths = np.array(read, np.int64).reshape(-1, 2).T
    pages.check(mapped, starts, lengths)


def _map_file(path: Path) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _overlapping_items(mapped: mmap.mmap, row_bytes: int) -> NDArray[np.void]:
    return np.ndarray(max(0, len(mapped) - row_bytes + 1), f"V{row_bytes}", buffer=mapped, strides=(1,))


def _vector_offsets(path: Path, length: int, value_bytes: int) -> NDArray[np.int64]:
    """The offset in the file, in bytes, of each row's vector of `length` values."""
    footer = pq.read_metadata(path)
    groups = (footer.row_group(number) for number in range(footer.num_row_groups))
    row_bytes = length * value_bytes
    begins = [
        _values_offset(path, group, group.num_rows * length, value_bytes) + row_bytes * np.arange(group.num_rows)
        for group in groups
    ]
    return np.concatenate([*begins, np.empty(0, np.int64)])


def _values_offset(path: Path, group: pq.RowGroupMetaData, values: int, value_bytes: int) -> int:
    """The offset in the file of the values of a row group's vectors.

    They are at the end of the column's only data page, after the levels, which mark the end of each list. The page's
    header, in Thrift's compact protocol, must state: a data page (15 00), its size twice (15 ...), as it is
    uncompressed, then (2c) the number of its values (15 ...) and their encoding PLAIN (15 00).
    """
    column = group.column(group.num_columns - 1)
    with open(path, "rb") as file:
        file.seek(column.data_page_offset)
        header = file.read(min(column.total_compressed_size, LONGEST_HEADER))
    found = PAGE_HEADER.match(header)
    if column.path_in_schema != VALUES or not found or found["size"] != found["compressed"]:
        raise _layout_error(path)
    one_page = 0 < column.total_compressed_size - _decode_number(found["size"]) <= LONGEST_HEADER
    if not one_page or _decode_number(found["values"]) != values:
        raise _layout_error(path)
    return int(column.data_page_offset + column.total_compressed_size - values * value_bytes)


VARINT = rb"[\x80-\xff]*[\x00-\x7f]"
PAGE_HEADER = re.compile(
    rb"\x15\x00\x15(?P<size>%b)\x15(?P<compressed>%b)\x2c\x15(?P<values>%b)\x15\x00" % (VARINT, VARINT, VARINT),
    re.DOTALL,
)
LONGEST_HEADER = 64
"""Bytes; a header without statistics has about thirty."""


def _decode_number(varint: bytes) -> int:
    """A number that is not negative, in Thrift's compact protocol: 7 bits in a byte, doubled."""
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(varint)) // 2


def _layout_error(path: Path) -> InputError:
    return InputError(
        f"{path}: expected the vectors of each row group in one plain page, found another layout; the file was "
        "written by other software. Delete it and run snakemake again."
    )
