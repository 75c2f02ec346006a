"""The metrics that the papers print: config/published/<paper>.csv, and what they were measured with: <paper>.yaml.

Reading them needs no heavy package, so that a wrong name can be refused before any job is planned.
"""

import csv
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from densevse.evaluation.metrics import METRIC_COLUMNS
from densevse.runtime.errors import InputError

COLUMNS = ("dataset", "protocol", "images", "paper", "table", "method", "variant", *METRIC_COLUMNS, "note")
REGIONS = "coco_region"
"""HM-LSTM's own set of regions and phrases, which was never widely distributed."""


@dataclass(frozen=True)
class Paper:
    """What stands in <paper>.yaml: its short name, its title, and what its metrics were measured with."""

    name: str
    title: str
    used: str


@dataclass(frozen=True)
class PublishedRow:
    """A row of a printed table. `printed` holds the metrics as the paper prints them; others are left out."""

    dataset: str
    protocol: str
    images: int  # how many images (regions, for the protocol of regions) are ranked against each other
    paper: str
    table: str  # its number; code for the metrics of the authors' public code
    method: str  # as printed
    variant: str  # the name in config/methods of what measures the same; empty without one
    printed: Mapping[str, str]
    note: str

    @property
    def metrics(self) -> dict[str, float]:
        """The printed metrics as numbers."""
        return {key: float(text) for key, text in self.printed.items()}


def read_published(files: Iterable[str | Path]) -> list[PublishedRow]:
    """All rows of the files, in their order.

    Raises `InputError` that names file and line for a wrong column, a metric that is no number, or an empty name.
    """
    return [row for file in files for row in _read(Path(file))]


def read_paper(file: str | Path) -> Paper:
    """What <paper>.yaml says. Raises `InputError` if a key is missing or unknown."""
    values = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    if not isinstance(values, dict) or set(values) != set(Paper.__dataclass_fields__):
        raise InputError(f"{file}: expected the keys name, title and used, and no others.")
    return Paper(**values)


def check_names(rows: Iterable[PublishedRow], datasets: Collection[str], protocols: Collection[str]) -> None:
    """Raise `InputError` for a row of an unknown data set or protocol, or whose paper is not that of its file."""
    for row in rows:
        where = f"config/published/{row.paper}.csv: {row.method} (Table {row.table})"
        if row.dataset not in {*datasets, REGIONS}:
            raise InputError(f"{where}: no data set {row.dataset!r}; known: {sorted({*datasets, REGIONS})}")
        if row.protocol not in protocols:
            raise InputError(f"{where}: no protocol {row.protocol!r}; known: {sorted(protocols)}")


def _read(file: Path) -> list[PublishedRow]:
    with file.open(encoding="utf-8", newline="") as text:
        lines = csv.DictReader(text)
        if tuple(lines.fieldnames or ()) != COLUMNS:
            raise InputError(f"{file}: expected the columns {', '.join(COLUMNS)}; found {lines.fieldnames}.")
        return [_row(values, f"{file}, line {lines.line_num}", file.stem) for values in lines]


def _row(values: dict[str, str], where: str, paper: str) -> PublishedRow:
    printed = {column: values.pop(column) for column in METRIC_COLUMNS}
    for column, metric in printed.items():
        try:
            float(metric or 0)
        except ValueError:
            raise InputError(f"{where}: {column} is no number: {metric!r}") from None
    if values["paper"] != paper:
        raise InputError(f"{where}: expected the paper {paper!r}, as the file is named; found {values['paper']!r}")
    if not (values["images"].isdigit() and values["table"] and values["method"]):
        raise InputError(f"{where}: expected a number of images, a table and a method; one of them is missing.")
    shown = {column: metric for column, metric in printed.items() if metric}
    return PublishedRow(**{**values, "images": int(values["images"]), "printed": shown})  # type: ignore[arg-type]
