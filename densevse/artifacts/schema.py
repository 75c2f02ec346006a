"""Describes, writes and reads artifacts.

Every artifact is a Parquet file. The file stores its schema (columns, types, units, source), the schema's version and
its lineage, where pandas, pyarrow and DuckDB users can also read them:

    SELECT decode(key), decode(value) FROM parquet_kv_metadata('results/scenes/images.parquet')
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from densevse.artifacts.files import atomic
from densevse.artifacts.identity import Identity
from densevse.artifacts.seals import RowsDigest, Seal, seal_parquet, verified
from densevse.runtime.errors import InputError

PREFIX = "densevse."
MADE_FROM = f"{PREFIX}made_from"
IDENTITY = f"{PREFIX}identity"
PART_ROWS = 8192
"""Rows that `read_parts` reads at once."""


@dataclass(frozen=True)
class Column:
    """A column: its name, its Arrow type, and the meaning of a value (with its unit)."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class Schema:
    """The schema of one kind of artifact. `version` rises when a reader would misread older files."""

    name: str
    row: str
    columns: tuple[Column, ...]
    version: int = 1

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema, with each column's meaning as field metadata."""
        return pa.schema(
            [
                pa.field(column.name, column.type, nullable=column.nullable, metadata={"meaning": column.meaning})
                for column in self.columns
            ]
        )

    def metadata(self, made_from: Mapping[str, Any], of: Identity | None = None) -> dict[str, str]:
        """The key-value metadata of a file of this schema.

        `made_from` is the lineage (densevse.artifacts.lineage), `of` the artifact's identity, if it has one.
        """
        return {
            **({} if of is None else {IDENTITY: json.dumps(of.values())}),
            f"{PREFIX}schema": self.name,
            f"{PREFIX}version": str(self.version),
            f"{PREFIX}row": self.row,
            f"{PREFIX}columns": json.dumps({column.name: column.meaning for column in self.columns}),
            MADE_FROM: json.dumps(made_from, sort_keys=True, default=str),
        }


def write(
    rows: pd.DataFrame | Iterable[Mapping[str, Any]],
    schema: Schema,
    path: str | Path,
    made_from: Mapping[str, Any],
    of: Identity | None = None,
) -> None:
    """Writes `rows` (a frame, or dictionaries with the schema's columns) to `path`, atomically.

    A column that may be null may be left out.

    `made_from` is the lineage (densevse.artifacts.lineage), `of` the artifact's identity, if it has one.

    Raises `InputError` if a column is missing, unknown, of another type, or null where it must not be.
    """
    if not isinstance(rows, pd.DataFrame):
        rows = list(rows)
        rows = pd.DataFrame(rows, columns=None if rows else [column.name for column in schema.columns])
    table = arrow_table(rows, schema, path).replace_schema_metadata(schema.metadata(made_from, of))
    digest = RowsDigest()
    digest.add(table)
    with atomic(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
        seal_parquet(temporary, digest)


def arrow_table(rows: pd.DataFrame, schema: Schema, path: str | Path) -> pa.Table:
    """`rows` as an Arrow table of `schema`, for the file `path`. Raises `InputError` as `write` does."""
    expected, found = [column.name for column in schema.columns], list(rows.columns)
    optional = [column.name for column in schema.columns if column.nullable and column.name not in found]
    if sorted(expected) != sorted([*found, *optional]):
        raise InputError(f"{path}: a {schema.name} artifact has the columns {expected}, but got {found}.")
    try:
        table = pa.Table.from_pandas(rows.reindex(columns=expected), schema=schema.arrow, preserve_index=False)
        table.validate(full=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError) as error:
        raise InputError(f"{path}: not a valid {schema.name} artifact: {error}") from error
    return table


def read(path: str | Path, schema: Schema, columns: list[str] | None = None) -> pd.DataFrame:
    """Reads an artifact (all columns, or those named) after checking it against `schema`.

    Raises `InputError` if the file is missing, damaged, of another kind or of another version.
    """
    check(path, schema)
    verified(path)
    frame: pd.DataFrame = pq.read_table(path, columns=columns).to_pandas()
    return frame


def read_parts(paths: Iterable[str | Path], schema: Schema, columns: list[str] | None = None) -> Iterator[pd.DataFrame]:
    """Read the shards of an artifact as `read` does, in the order given, but some rows at a time.

    Text and lists take tens of times their size in the file once they are Python's.
    """
    for path in paths:
        check(path, schema)
        verified(path)
        with pq.ParquetFile(path) as file:
            for rows in file.iter_batches(PART_ROWS, columns=columns):
                yield rows.to_pandas()


def read_all(paths: Iterable[str | Path], schema: Schema, columns: list[str] | None = None) -> pd.DataFrame:
    """Reads the shards of an artifact, in the given order, as one frame."""
    return pd.concat([read(path, schema, columns) for path in paths], ignore_index=True)


def check(path: str | Path, schema: Schema) -> dict[str, Any]:
    """Checks that `path` is a whole file of this schema and version, and returns its lineage.

    Raises `InputError` if it is not.
    """
    metadata = file_metadata(path)
    found = (metadata.get(f"{PREFIX}schema"), metadata.get(f"{PREFIX}version"))
    expected = (schema.name, str(schema.version))
    if found != expected:
        raise InputError(
            f"{path}: expected a {expected[0]} artifact of version {expected[1]}, found "
            f"{found[0] or 'no densevse artifact'} of version {found[1] or 'none'}. "
            "Delete the file and run snakemake again."
        )
    made_from: dict[str, Any] = json.loads(metadata[MADE_FROM])
    return made_from


def identity(path: str | Path) -> Identity:
    """The identity of an artifact. Raises `InputError` if the file does not store it."""
    metadata = file_metadata(path)
    if IDENTITY not in metadata:
        raise InputError(
            f"{path} does not name its data set and variant, as it is of an earlier version. Delete it and run "
            "snakemake again."
        )
    return Identity(**json.loads(metadata[IDENTITY]))


def file_metadata(path: str | Path) -> dict[str, str]:
    """The key-value metadata of an artifact. Raises `InputError` if it is missing, or damaged outside its pages."""
    Seal(path)
    try:
        stored = pq.read_metadata(path).metadata or {}
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: not a whole Parquet file ({error}). Delete it and run snakemake again.") from error
    return {key.decode(): value.decode() for key, value in stored.items()}


TEXT, NUMBER, REAL = pa.string(), pa.int32(), pa.float32()
TEXTS, REALS = pa.list_(TEXT), pa.list_(REAL)

IMAGE_ID = Column("image_id", TEXT, "the image, unique in its data set")
CAPTION_ID = Column("caption_id", TEXT, "the caption: <image_id>#<position>")
SPLIT = Column("split", TEXT, "train, val, test or restval (MS-COCO's rest of val)")
BOX_COLUMNS = (
    Column("x", REAL, "left edge of the box, pixels"),
    Column("y", REAL, "top edge of the box, pixels"),
    Column("width", REAL, "width of the box, pixels"),
    Column("height", REAL, "height of the box, pixels"),
)
