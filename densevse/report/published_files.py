"""Reads files of published metrics: CSV with typed columns, and YAML with texts about them.

It needs no heavy package, so that a wrong row is refused before any job is planned.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from densevse.config.strict_yaml import read_yaml
from densevse.runtime.errors import InputError

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


def read_about(file: str | Path, keys: Sequence[str]) -> dict[str, str]:
    """The texts of a YAML file about a CSV file. Raises `InputError` unless it has exactly these keys."""
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


def required(cell: str) -> str:
    """Text that must not be empty."""
    if not cell:
        raise ValueError("is missing")
    return cell


def whole(cell: str) -> int:
    """An integer from 0."""
    if not cell.isdigit():
        raise ValueError("is not a whole number")
    return int(cell)


def real(cell: str) -> float:
    """A number."""
    try:
        return float(cell)
    except ValueError:
        raise ValueError("is no number") from None


def real_or_none(cell: str) -> float | None:
    """A number; None for one that was not printed."""
    return real(cell) if cell else None


def as_printed(cell: str) -> str:
    """A number as it is printed, or none."""
    real_or_none(cell)
    return cell
