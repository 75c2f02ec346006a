"""Describes, writes and reads artifacts.

Every artifact is a Parquet file. The file stores its schema (columns, types, units, source), the schema's version and
what it was made from (snakeproof.statements), where pandas, pyarrow and DuckDB users can also read them:

    SELECT decode(key), decode(value) FROM parquet_kv_metadata('results/scenes/images.parquet')
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from snakeproof.errors import InputError
from snakeproof.files import atomic_file
from snakeproof.pages import RowsDigest
from snakeproof.seals import PACKAGES, read_seal, seal_parquet, verify_file
from snakeproof.statements import STATEMENT, Statement, current_statement, parse_statement

PART_ROWS = 8192
"""Rows that `read_parts` reads at once."""
ORIGIN = "origin"
"""A column that rows may carry to `write`, which drops it: where each is from, as "boxes.json: annotation 7"."""


@dataclass(frozen=True)
class Column:
    """A column: its name, its Arrow type, and the meaning of a value (with its unit)."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class Rule:
    """A rule that all rows of an artifact keep, wherever they come from.

    `find` takes the rows, and by name what it `needs`, such as the image table; it returns problems in words, each with
    the rows (a mask) that have it.
    """

    find: Callable[..., Mapping[str, Any]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schema:
    """The schema of one kind of artifact. `version` rises when a reader would misread older files."""

    name: str
    row: str
    columns: tuple[Column, ...]
    version: int = 1
    rules: tuple[Rule, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)

    def bind(self, **context: Any) -> "Schema":
        """The same schema with what its rules need, for a writer."""
        return replace(self, context=context)

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema, with each column's meaning as field metadata."""
        return pa.schema(
            [
                pa.field(column.name, column.type, nullable=column.nullable, metadata={"meaning": column.meaning})
                for column in self.columns
            ]
        )

    def metadata(self, statement: Statement) -> dict[str, str]:
        """The key-value metadata of a file of this schema."""
        return {
            f"{PACKAGES[0]}.schema": self.name,
            f"{PACKAGES[0]}.version": str(self.version),
            f"{PACKAGES[0]}.row": self.row,
            f"{PACKAGES[0]}.columns": json.dumps({column.name: column.meaning for column in self.columns}),
            STATEMENT: json.dumps(statement.values()),
        }


def write(rows: pd.DataFrame | Iterable[Mapping[str, Any]], schema: Schema, path: str | Path, **found: Any) -> None:
    """Writes `rows` (a frame, or dictionaries with the schema's columns) to `path`, atomically.

    A column that may be null may be left out. The file states the job in progress; `found` is what only the job knows.

    Raises `InputError` if a column is missing, unknown, of another type, or null where it must not be; or as
    `check_rules` does.
    """
    if not isinstance(rows, pd.DataFrame):
        rows = list(rows)
        rows = pd.DataFrame(rows, columns=None if rows else [column.name for column in schema.columns])
    table = arrow_table(rows.drop(columns=ORIGIN, errors="ignore"), schema, path).replace_schema_metadata(None)
    check_rules(rows, schema, path)
    digest = RowsDigest()
    digest.add(table)
    with atomic_file(path) as temporary:
        with pq.ParquetWriter(temporary, table.schema, compression="zstd") as file:
            file.write_table(table)
            # Not in the schema, of which Arrow keeps a copy in each file.
            file.add_key_value_metadata(schema.metadata(current_statement(found)))
        seal_parquet(temporary, digest.hexdigest())


def check_rules(rows: pd.DataFrame, schema: Schema, path: str | Path) -> None:
    """Checks the rules of a schema, whose `path` is named where rows have no `ORIGIN`.

    Raises `InputError` that names the first row that breaks one, by its origin, and counts such rows.
    """
    for rule in schema.rules if len(rows) else ():
        check_rows(rows, rule.find(rows, **{name: schema.context[name] for name in rule.needs}), path)


def check_rows(rows: pd.DataFrame, problems: Mapping[str, ArrayLike], path: str | Path) -> None:
    """Raises `InputError` as `check_rules` does, for problems in words, each with the rows (a mask) that have it."""
    for problem, mask in problems.items():
        wrong = np.asarray(mask, dtype=bool)
        if wrong.any():
            first = int(wrong.argmax())
            row = rows.iloc[first].to_dict()
            origin = row.pop(ORIGIN, f"{path}: row {first}")
            raise InputError(f"{origin} ({row}): {problem}; {int(wrong.sum())} such rows.")


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
    verify_file(path)
    frame: pd.DataFrame = pq.read_table(path, columns=columns).to_pandas()
    return frame


def read_parts(paths: Iterable[str | Path], schema: Schema, columns: list[str] | None = None) -> Iterator[pd.DataFrame]:
    """Read the shards of an artifact as `read` does, in the order given, but some rows at a time.

    Text and lists take tens of times their size in the file once they are Python's.
    """
    for path in paths:
        check(path, schema)
        verify_file(path)
        with pq.ParquetFile(path) as file:
            for rows in file.iter_batches(PART_ROWS, columns=columns):
                yield rows.to_pandas()


def read_all(paths: Iterable[str | Path], schema: Schema, columns: list[str] | None = None) -> pd.DataFrame:
    """Reads the shards of an artifact, in the given order, as one frame."""
    return pd.concat([read(path, schema, columns) for path in paths], ignore_index=True)


def check(path: str | Path, schema: Schema) -> Statement:
    """Checks that `path` is a whole file of this schema and version, and returns its statement.

    Raises `InputError` if it is not.
    """
    metadata = read_seal(path).metadata
    name, version = (_find_value(metadata, key) for key in ("schema", "version"))
    if (name, version) != (schema.name, str(schema.version)):
        raise InputError(
            f"{path}: expected a {schema.name} artifact of version {schema.version}, found "
            f"{name or 'no artifact'} of version {version or 'none'}. Delete the file and run snakemake again."
        )
    return parse_statement(path, metadata)


def _find_value(metadata: Mapping[str, str], key: str) -> str | None:
    return next((metadata[name] for package in PACKAGES if (name := f"{package}.{key}") in metadata), None)


TEXT, NUMBER, REAL = pa.string(), pa.int32(), pa.float32()
TEXTS, REALS = pa.list_(TEXT), pa.list_(REAL)
