"""The feature store: Parquet files whose vectors are memory-mapped.

Each file has the columns of its schema and one more, `vector`: a REQUIRED FixedSizeBinary, PLAIN, uncompressed, without
dictionary, one data page per row group. So the bytes of a row group's vectors lie in one piece and are read where they
are, while the file stays ordinary Parquet for everyone else:

    frame = pd.read_parquet("results/scenes/features/scenes_net/whole/00-of-01.parquet")
    vectors = np.frombuffer(b"".join(frame["vector"]), dtype="float16").reshape(len(frame), -1)

    SELECT image_id, octet_length(vector) FROM 'results/scenes/features/scenes_net/whole/*.parquet'

Shape and dtype of a vector are in the key-value metadata (`densevse.shape`, `densevse.dtype`).
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import DTypeLike, NDArray

from densevse.artifacts.files import atomic
from densevse.artifacts.schema import PREFIX, Column, Schema, arrow_table, check, file_metadata
from densevse.artifacts.schemas import IMAGE_FEATURES, REGION_FEATURES
from densevse.errors import InputError

VECTOR = "vector"
SCHEMAS = {schema.name: schema for schema in (IMAGE_FEATURES, REGION_FEATURES)}
GROUP_ROWS, GROUP_BYTES = 1024, 2**24  # the most of a row group, which is held in memory until it is full


class FeatureWriter:
    """Writes a feature file row group by row group, in flat memory; it appears under its name only when whole.

    A context manager. `schema` is IMAGE_FEATURES or REGION_FEATURES, `shape` and `dtype` (float16 or float32) are
    those of one row's vector or grid, and `made_from` says which network, layer, precision and sources: it must be
    equal in all shards.
    """

    def __init__(
        self, path: str | Path, schema: Schema, shape: Sequence[int], dtype: DTypeLike, made_from: Mapping[str, Any]
    ) -> None:
        self.path, self.schema, self.shape, self.dtype = Path(path), schema, tuple(shape), np.dtype(dtype)
        self._made_from = made_from
        row_bytes = math.prod(self.shape) * self.dtype.itemsize
        self._group = np.empty((min(GROUP_ROWS, max(1, GROUP_BYTES // row_bytes)), *self.shape), self.dtype)
        self._rows: list[pd.DataFrame] = []
        self._filled = 0
        self._open = ExitStack()

    def __enter__(self) -> Self:
        temporary = self._open.enter_context(atomic(self.path))
        self._file = self._open.enter_context(self._parquet(temporary))
        self._open.push(self._finish)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._open.__exit__(kind, error, trace)

    def append(self, rows: pd.DataFrame, vectors: NDArray[Any]) -> None:
        """Add `rows` (the schema's columns) and their `vectors` (rows, *shape), converted to the stored type.

        Raises `InputError` if shape or columns do not fit, or naming the first row whose vector is not finite.
        """
        if vectors.shape != (len(rows), *self.shape):
            raise InputError(f"{self.path}: expected vectors of shape {(len(rows), *self.shape)}, got {vectors.shape}.")
        with np.errstate(over="ignore"):  # reported below, with the row's name
            stored = vectors.astype(self.dtype, copy=False)
        finite = np.isfinite(stored).reshape(len(rows), -1).all(axis=1)
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
        payload = pa.py_buffer(self._group[: self._filled])
        vectors = pa.Array.from_buffers(self._row_type, self._filled, [None, payload])
        table = arrow_table(pd.concat(self._rows, ignore_index=True), self.schema, self.path)
        self._file.write_table(
            pa.Table.from_arrays([*table.columns, vectors], schema=self._file.schema), row_group_size=self._filled
        )
        self._rows, self._filled = [], 0

    def _finish(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()

    @property
    def _row_type(self) -> pa.DataType:
        return pa.binary(math.prod(self.shape) * self.dtype.itemsize)

    def _parquet(self, path: Path) -> pq.ParquetWriter:
        meaning = f"the feature: {self.dtype.name} values of shape {self.shape}, little endian, row by row"
        full = replace(self.schema, columns=(*self.schema.columns, Column(VECTOR, self._row_type, meaning)))
        layout = {f"{PREFIX}shape": json.dumps(self.shape), f"{PREFIX}dtype": self.dtype.name}
        others = [column.name for column in self.schema.columns]
        return pq.ParquetWriter(
            path,
            full.arrow.with_metadata(full.metadata(self._made_from) | layout),
            compression=dict.fromkeys(others, "zstd") | {VECTOR: "none"},
            use_dictionary=others,
            write_statistics=others,
            data_page_version="1.0",
            data_page_size=2**31 - 1,
            write_batch_size=GROUP_ROWS,
            max_rows_per_page=GROUP_ROWS,
        )


class FeatureStore:
    """The shards of a feature artifact as one array on disk.

    `rows` holds all other columns, a row a vector, in the order of `paths`; `shape` and `dtype` are those of one row's
    vector or grid; `made_from` is what the features were made from.

    Raises `InputError` if a file is missing, truncated, no feature artifact, or if shards disagree in schema, shape,
    dtype or what they were made from.
    """

    def __init__(self, paths: Iterable[str | Path]) -> None:
        files = [Path(path) for path in paths]
        if not files:
            raise InputError("a feature store needs at least one file; none was given.")
        described = [_describe(path) for path in files]
        _check_alike(files, described)
        self.schema = SCHEMAS[described[0]["schema"]]
        self.shape: tuple[int, ...] = tuple(described[0]["shape"])
        self.dtype = np.dtype(described[0]["dtype"])
        self.made_from: dict[str, Any] = described[0]["made_from"]
        names = [column.name for column in self.schema.columns]
        self.rows = pd.concat([pq.read_table(path, columns=names).to_pandas() for path in files], ignore_index=True)
        row_bytes = math.prod(self.shape) * self.dtype.itemsize
        # Per file, item i is the row_bytes bytes from byte i on; so a vector is an item wherever it begins.
        self._items = [_overlapping_items(path, row_bytes) for path in files]
        offsets = [_payload_offsets(path, row_bytes) for path in files]
        self._file = np.repeat(np.arange(len(files)), [len(part) for part in offsets])
        self._offset = np.concatenate(offsets)

    def __len__(self) -> int:
        return len(self.rows)

    def gather(self, indices: Sequence[int] | NDArray[np.int64]) -> NDArray[Any]:
        """Return the vectors of the rows `indices` as (n, *shape) in the stored type.

        Raises `IndexError` for a row that does not exist.
        """
        wanted = np.asarray(indices, dtype=np.int64)
        file, offset = self._file[wanted], self._offset[wanted]
        gathered = np.empty(len(wanted), self._items[0].dtype)
        for number in np.flatnonzero(np.bincount(file)):
            here = np.flatnonzero(file == number)
            gathered[here] = self._items[number][offset[here]]
        vectors: NDArray[Any] = gathered.view(self.dtype).reshape(len(wanted), *self.shape)
        return vectors


def _describe(path: Path) -> dict[str, Any]:
    metadata = file_metadata(path)
    name = metadata.get(f"{PREFIX}schema", "")
    if name not in SCHEMAS:
        raise InputError(
            f"{path}: expected one of the artifacts {', '.join(SCHEMAS)}, found {name or 'no densevse artifact'}. "
            "Delete the file and run snakemake again to make it anew."
        )
    made_from = check(path, SCHEMAS[name])
    shape, dtype = json.loads(metadata[f"{PREFIX}shape"]), metadata[f"{PREFIX}dtype"]
    return {"schema": name, "shape": shape, "dtype": dtype, "made_from": made_from}


def _check_alike(files: Sequence[Path], described: Sequence[dict[str, Any]]) -> None:
    for path, found in zip(files, described, strict=True):
        for key, expected in described[0].items():
            if found[key] != expected:
                raise InputError(
                    f"{path}: expected {key} {expected} as in {files[0]}, found {found[key]}. The shards are of "
                    "different features: delete the one that is wrong and run snakemake again to make it anew."
                )


def _overlapping_items(path: Path, row_bytes: int) -> NDArray[np.void]:
    raw = np.memmap(path, mode="r")
    return np.ndarray(max(0, len(raw) - row_bytes + 1), f"V{row_bytes}", buffer=raw, strides=(1,))


def _payload_offsets(path: Path, row_bytes: int) -> NDArray[np.int64]:
    """Where in the file each row's vector begins, in bytes."""
    footer = pq.read_metadata(path)
    groups = (footer.row_group(number) for number in range(footer.num_row_groups))
    begins = [_payload(path, group, row_bytes) + row_bytes * np.arange(group.num_rows) for group in groups]
    return np.concatenate([*begins, np.empty(0, np.int64)])


def _payload(path: Path, group: pq.RowGroupMetaData, row_bytes: int) -> int:
    """Where the vectors of a row group begin in the file.

    The vectors are the column's one data page: its Thrift header and then the plain values. The header is what the
    column chunk has beyond the values; it must begin with the page type (DATA_PAGE) and the values' size, twice.
    """
    column = group.column(group.num_columns - 1)
    size = group.num_rows * row_bytes
    begin = column.data_page_offset + column.total_compressed_size - size
    with open(path, "rb") as file:
        file.seek(column.data_page_offset)
        header = file.read(max(0, begin - column.data_page_offset))
    length = _zigzag_varint(size)
    if column.path_in_schema != VECTOR or not header.startswith(b"\x15\x00\x15" + length + b"\x15" + length):
        raise InputError(
            f"{path}: expected the vectors of a row group in one plain page of {size} bytes, found another layout; "
            "the file was written by other software. Delete it and run snakemake again to make it anew."
        )
    return int(begin)


def _zigzag_varint(number: int) -> bytes:
    """A non-negative 32-bit integer as Thrift's compact protocol writes it."""
    number, encoded = 2 * number, bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
