"""A table of the rounds of a method that learns correspondences (HM-LSTM, Fig 3): what each round gained."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.correspondences import CORRESPONDENCE_ACCURACY
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.tables import ROUNDS
from densevse.evaluation.recall import DIRECTIONS, RECALLS, figures_of
from densevse.evaluation.rendering import Column, Document
from densevse.evaluation.tables import Outputs, write_table

CHOICES = ("learned", "whole image", "chance", "best possible")
FIGURES = [
    f"{direction}_{figure}" for direction in DIRECTIONS for figure in (*(f"r{k}" for k in RECALLS), "median_rank")
]
NOTES = [
    "Gain is Sum minus that of round 0; ± is the standard deviation of Sum over seeds; figures are means over seeds.",
    "Accuracy is the share of phrases whose region overlaps a true box by at least 0.5, of the correspondences "
    "that the round was trained on; beside it the whole image, a region by chance, and the best of the regions.",
]


def make_rounds(retrievals: list[str], accuracies: list[str], settings: Mapping[str, Any], outputs: Outputs) -> None:
    """Make the table from artifacts' paths.

    `settings` holds title, rounds (variant -> T), titles (variant -> as printed), seeds, and has_boxes. `retrievals`
    come by variant, then round from 0, then seed; `accuracies` likewise from round 1, or none without true boxes.
    """
    retrieved, judged = iter(retrievals), iter(accuracies)
    rows: list[dict[str, Any]] = []
    for variant, last in settings["rounds"].items():
        for number in range(last + 1):
            figures = pd.DataFrame([figures_of(schema.read(next(retrieved), RETRIEVAL)) for _ in settings["seeds"]])
            paths = [next(judged) for _ in settings["seeds"]] if number and accuracies else []
            row = {"variant": variant, "method": settings["titles"][variant], "round": number, "seeds": len(figures)}
            row |= {**figures.mean(), "sum_spread": figures["sum"].std(ddof=1), **_accuracy(paths)}
            first = rows[-number] if number else row
            rows.append({**row, "gain": row["sum"] - first["sum"]})
    frame = pd.DataFrame(rows, columns=[column.name for column in ROUNDS.columns])
    write_table(frame, ROUNDS, document(frame, settings["title"]), settings, outputs)


def document(rows: pd.DataFrame, heading: str) -> Document:
    """The table as printed."""
    columns = [Column("Method", number=False), Column("Variant", number=False), Column("Round")]
    for direction in DIRECTIONS:
        headers = (*(f"R@{k}" for k in RECALLS), "Med r")
        columns += [Column(header, direction.capitalize(), short=direction) for header in headers]
    columns += [Column("Sum"), Column("±"), Column("Gain")]
    columns += [Column(choice, "Accuracy", short="accuracy") for choice in CHOICES]
    shown = [*FIGURES, "sum", "sum_spread", "gain", *(f"{choice.replace(' ', '_')}_accuracy" for choice in CHOICES)]
    cells = [
        [row["method"], row["variant"], str(row["round"]), *(_cell(key, row[key]) for key in shown)]
        for _, row in rows.iterrows()
    ]
    return Document(heading, tuple(columns), cells, NOTES)


def _accuracy(paths: list[str]) -> dict[str, float | None]:
    """Mean over seeds, a choice; none at round 0 and where there are no true boxes."""
    if not paths:
        return {f"{choice.replace(' ', '_')}_accuracy": None for choice in CHOICES}
    mean = schema.read_all(paths, CORRESPONDENCE_ACCURACY).groupby("choice")["accuracy"].mean()
    return {f"{choice.replace(' ', '_')}_accuracy": mean.get(choice) for choice in CHOICES}


def _cell(key: str, value: float) -> str:
    if pd.isna(value):
        return ""
    if key.endswith("accuracy"):
        return f"{value:.3f}"
    if key.endswith("rank"):
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:+.1f}" if key == "gain" else f"{value:.1f}"
