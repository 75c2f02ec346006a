"""A table of the rounds of a method that learns correspondences (HM-LSTM, Fig 3): what each round gained."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.correspondences import CORRESPONDENCE_ACCURACY
from densevse.artifacts.schemas.tables import ROUNDS
from densevse.evaluation.metrics import DIRECTIONS, RECALLS
from densevse.tables.footnotes import INTERVALS, JUDGED, TIES, changed_settings, making_notes
from densevse.tables.layout import HEADS, gain
from densevse.tables.rendering import Column, Document, Sheet, number, number_range
from densevse.tables.results import Outputs, write_table
from densevse.tables.rows import Row, as_record, measured_rows
from densevse.tables.sections import Artifacts, read_section

CHOICES = ("learned", "whole image", "chance", "best possible")
METRICS = [
    *(f"{direction}_{metric}" for direction in DIRECTIONS for metric in (*(f"r{k}" for k in RECALLS), "median_rank")),
    "rsum",
]
NOTES = [
    TIES,
    INTERVALS,
    f"Gain is Sum minus that of round 0, with a paired interval: both rounds are given the same drawn images. {JUDGED}",
    "Accuracy is the share of phrases whose region overlaps a true box by at least 0.5, of the correspondences "
    "that the round was trained on; beside it the whole image, a region by chance, and the best of the regions.",
]


def make_rounds(
    tables: Sequence[str],
    retrievals: Sequence[str],
    accuracies: Sequence[str],
    settings: Mapping[str, Any],
    outputs: Outputs,
) -> None:
    """Make the table from artifacts' paths.

    `tables` are the data set's IMAGES and CAPTIONS. `settings` holds title, rounds (variant -> T), entries, and a
    section whose measured entries are those variants. `retrievals` come by variant, then round from 0, then seed;
    `accuracies` likewise from round 1, or none without true boxes.
    """
    numbered = {
        f"{variant} round {number}": (variant, number)
        for variant, last in settings["rounds"].items()
        for number in range(last + 1)
    }
    of_variant = settings["section"]["measured"]
    measured = {name: of_variant[variant] for name, (variant, _) in numbered.items()}
    artifacts = Artifacts(iter(tables[:1]), iter(tables[1:]), iter(retrievals))
    section = read_section({**settings["section"], "measured": measured}, settings["entries"], artifacts)
    first = {name: f"{variant} round 0" for name, (variant, _) in numbered.items()}
    rows = measured_rows(section.measured, section.test_set, section.folds, first)
    judged = iter(accuracies)
    lines = [(*numbered[row.variant], row) for row in rows]
    found = [(*line, _accuracy(judged, line[1], line[2].seeds if accuracies else 0)) for line in lines]
    frame = pd.DataFrame([_record(*line) for line in found], columns=[column.name for column in ROUNDS.columns])
    notes = [*NOTES, *making_notes(settings, [section])]
    sheets = [_metrics_sheet(found, section.heading()), _intervals_sheet(found)]
    document = Document(settings["title"], sheets, notes, changed_settings([settings["section"]]))
    write_table(frame, ROUNDS, document, settings, outputs)


def _accuracy(paths: Iterator[str], number: int, seeds: int) -> dict[str, float | None]:
    """Mean over seeds, of each choice; none at round 0 and where there are no true boxes."""
    if not (number and seeds):
        return dict.fromkeys(CHOICES)
    files = [next(paths) for _ in range(seeds)]
    mean = schema.read_all(files, CORRESPONDENCE_ACCURACY).groupby("choice")["accuracy"].mean()
    return {choice: mean.get(choice) for choice in CHOICES}


def _record(variant: str, number: int, row: Row, accuracy: Mapping[str, float | None]) -> dict[str, Any]:
    """A row of a ROUNDS artifact."""
    accuracies = {f"{choice.replace(' ', '_')}_accuracy": value for choice, value in accuracy.items()}
    return {**as_record(row), "variant": variant, "round": number, "gain": row.gain or 0.0, **accuracies}


Line = tuple[str, int, Row, Mapping[str, float | None]]
NAMES = (Column("Method", number=False), Column("Variant", number=False), Column("Round"))


def _metrics_sheet(lines: Sequence[Line], heading: str) -> Sheet:
    columns = (*NAMES, *_metric_columns(), Column("±"), Column("Gain", number=False))
    columns += tuple(Column(choice, "Accuracy", short="accuracy") for choice in CHOICES)
    cells = [
        [
            *(row.method, variant, str(round_number)),
            *(number(row.metrics[key], key) for key in METRICS),
            *(number(row.rsum_spread), gain(row)),
            *("" if accuracy[choice] is None else f"{accuracy[choice]:.3f}" for choice in CHOICES),
        ]
        for variant, round_number, row, accuracy in lines
    ]
    return Sheet(heading, columns, cells)


def _intervals_sheet(lines: Sequence[Line]) -> Sheet:
    cells = [
        [
            *(row.method, variant, str(round_number)),
            *(number_range(row.intervals[key], key) for key in METRICS),
            number_range(row.gain_interval, sign="+"),
        ]
        for variant, round_number, row, _ in lines
    ]
    return Sheet("95% intervals", (*NAMES, *_metric_columns(), Column("Gain")), cells)


def _metric_columns() -> tuple[Column, ...]:
    headers = (*(f"R@{k}" for k in RECALLS), "Med r")
    both = [Column(header, HEADS[side].capitalize(), short=HEADS[side]) for side in DIRECTIONS for header in headers]
    return (*both, Column("Sum"))
