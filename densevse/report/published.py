"""The metrics that the papers print (config/published/<paper>.csv) and how they were measured (<paper>.yaml).

Reading them needs no heavy package, so that a wrong name is refused before any job is planned.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from densevse.evaluation.metrics import METRIC_COLUMNS
from densevse.report.published_files import any_text, as_printed, read_about, read_rows, required, whole
from densevse.runtime.errors import InputError

_COLUMNS = {
    "dataset": required,
    "protocol": required,
    "images": whole,
    "paper": required,
    "table": required,
    "method": required,
    "variant": any_text,
    **dict.fromkeys(METRIC_COLUMNS, as_printed),
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


def read_published(files: Iterable[str | Path]) -> list[PublishedRow]:
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
    return Paper(**read_about(file, ("name", "title", "used")))


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
