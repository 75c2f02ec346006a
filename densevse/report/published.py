"""Published metrics: CSV files with typed columns, such as config/published/<paper>.csv, and texts about them in YAML.

Reading them needs no heavy package, so that a wrong row or name is refused before any job is planned.
"""

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from densevse.evaluation.metrics import METRIC_COLUMNS
from snakeproof.errors import InputError

Columns = Mapping[str, Callable[[str], Any]]
"""The type of each column: a function from a cell's text to its value, which raises `ValueError` with the mistake."""


def read_rows(file: str | Path, columns: Columns) -> list[dict[str, Any]]:
    """The rows of a CSV file that must have exactly these columns.

    Raises `InputError` that names file and line of another header, a row of another length, or a wrong cell.
    """
    with Path(file).open(encoding="utf-8-sig", newline="") as opened:
        lines = csv.reader(opened)
        header = next(lines, [])
        if header != list(columns):
            raise InputError(f"{file}: expected the columns {', '.join(columns)}; found {', '.join(header)}.")
        return [dict(_cells(line, columns, f"{file}, line {lines.line_num}")) for line in lines]


def read_texts(file: str | Path, keys: Sequence[str]) -> dict[str, str]:
    """The texts of a YAML file about a CSV file. Raises `InputError` unless it has exactly these keys."""
    from snakeproof.yaml_files import read_yaml  # rows of published figures alone need PyYAML

    values = read_yaml(file)
    if not isinstance(values, dict) or set(values) != set(keys):
        raise InputError(f"{file}: expected the keys {', '.join(keys[:-1])} and {keys[-1]}, and no others.")
    return {key: str(values[key]) for key in keys}


def _cells(line: list[str], columns: Columns, where: str) -> Iterator[tuple[str, Any]]:
    if len(line) != len(columns):
        raise InputError(f"{where}: expected {len(columns)} cells, found {len(line)}.")
    for (column, kind), cell in zip(columns.items(), line, strict=True):
        try:
            yield column, kind(cell)
        except ValueError as error:
            raise InputError(f"{where}: {column} {error}: {cell!r}") from None


def any_text(cell: str) -> str:
    """Any text, or none."""
    return cell


def required_text(cell: str) -> str:
    """Text that must not be empty."""
    if not cell:
        raise ValueError("is missing")
    return cell


def whole_number(cell: str) -> int:
    """An integer from 0."""
    if not cell.isdigit():
        raise ValueError("is not a whole number")
    return int(cell)


def real_number(cell: str) -> float:
    """A number."""
    try:
        return float(cell)
    except ValueError:
        raise ValueError("is no number") from None


def number_or_none(cell: str) -> float | None:
    """A number; None for one that was not printed."""
    return real_number(cell) if cell else None


def printed_number(cell: str) -> str:
    """A number as it is printed, or none."""
    number_or_none(cell)
    return cell


_COLUMNS = {
    "dataset": required_text,
    "protocol": required_text,
    "images": whole_number,
    "paper": required_text,
    "table": required_text,
    "method": required_text,
    "variant": any_text,
    **dict.fromkeys(METRIC_COLUMNS, printed_number),
    "note": any_text,
}
_REGIONS = "coco_region"
"""HM-LSTM's own set of regions and phrases, which was never widely distributed."""


@dataclass(frozen=True)
class Paper:
    """The contents of <paper>.yaml: a short name, the title, and how the paper measured."""

    name: str
    title: str
    used: str


@dataclass(frozen=True)
class PublishedRow:
    """A row of a printed table; `printed` holds the printed metrics only."""

    dataset: str
    protocol: str
    images: int  # number of images (regions, for the protocol of regions) that are ranked against each other
    paper: str
    table: str  # the table's number; `code` for metrics of the authors' public code
    method: str  # as printed
    variant: str  # the name in config/methods of our variant of the same method; empty without one
    printed: Mapping[str, str]
    note: str

    @property
    def metrics(self) -> dict[str, float]:
        """The printed metrics as numbers."""
        return {key: float(text) for key, text in self.printed.items()}


def read_published_rows(files: Iterable[str | Path]) -> list[PublishedRow]:
    """All rows of the files, in order.

    Raises `InputError` that names file and line of a wrong column, a metric that is not a number, or an empty name; and
    for a row with another paper than its file's.
    """
    found = []
    for file in files:
        rows = read_rows(file, _COLUMNS)
        named = Path(file).stem
        others = [row["paper"] for row in rows if row["paper"] != named]
        if others:
            raise InputError(f"{file}: expected the paper {named!r}, as the file is named; found {others[0]!r}.")
        found += [_row(row) for row in rows]
    return found


def read_paper(file: str | Path) -> Paper:
    """Reads <paper>.yaml. Raises `InputError` if a key is missing or unknown."""
    return Paper(**read_texts(file, ("name", "title", "used")))


def check_names(rows: Iterable[PublishedRow], datasets: Collection[str], protocols: Collection[str]) -> None:
    """Raises `InputError` for a row with an unknown data set or protocol."""
    for row in rows:
        where = f"config/published/{row.paper}.csv: {row.method} (Table {row.table})"
        if row.dataset not in {*datasets, _REGIONS}:
            raise InputError(f"{where}: no data set {row.dataset!r}; known: {sorted({*datasets, _REGIONS})}")
        if row.protocol not in protocols:
            raise InputError(f"{where}: no protocol {row.protocol!r}; known: {sorted(protocols)}")


def _row(values: dict[str, Any]) -> PublishedRow:
    printed = {column: values.pop(column) for column in METRIC_COLUMNS}
    return PublishedRow(**values, printed={column: metric for column, metric in printed.items() if metric})
