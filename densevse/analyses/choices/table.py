"""The table of choices: beside the image, blind, and the difference, of all questions and by category."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from densevse.analyses.choices.settings import ChoicesPlan
from densevse.artifacts.index import ArtifactIndex
from densevse.evaluation.choices import (
    BLIND_IMAGES,
    CHOICE_SCORES,
    CHOICES,
    EVERY,
    GROUP_SCORES,
    Choices,
    ChoiceScores,
    compare_choices,
    measure_choices,
)
from densevse.report.columns import METHOD, MetricColumn, variant_and_seeds
from densevse.report.rendering import Document, Sheet, TableColumn, number, number_range
from densevse.report.results import Outputs, write_table
from densevse.statistics.bootstrap import TOO_FEW
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import NUMBER, REAL, REALS, TEXT, TEXTS, Column, Schema
from snakeproof.strict import validate

_METRICS = (
    MetricColumn("choice", REAL, "choices that are right beside the image, percent", False, "Choice", best="highest"),
    MetricColumn("blind", REAL, "choices that are right beside other images, percent", False, "Blind"),
    MetricColumn("difference", REAL, "the choice minus the blind one", False, "Difference", best="highest"),
)
_GROUPS = {
    name: MetricColumn(name, REAL, f"Winoground's score {name}, percent", True, name.capitalize(), "Winoground")
    for name in GROUP_SCORES
}
CHOICE_RESULTS = Schema(
    "choice_results",
    "a method on the questions of a category",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("variant", TEXT, "the variant in config/methods"),
        Column("seeds", NUMBER, "how many seeds"),
        Column("category", TEXT, f"the kind of the wrong sentences; {EVERY} for all questions"),
        Column("questions", NUMBER, "how many questions"),
        Column("images", NUMBER, "how many images they are about"),
        Column("chance", REAL, "the expectation of a random choice, percent"),
        *(column for metric in _METRICS for column in metric.with_ends()),
        Column("ties", REAL, "questions with several best sentences, mean over seeds"),
        Column("blind_ties", REAL, "the same of blind choices"),
        Column("beats_chance_blind", pa.bool_(), "whether the interval of blind choices lies above chance"),
        *(column for metric in _GROUPS.values() for column in metric.with_ends()),
        Column("references", TEXTS, "the variants with which its difference is compared"),
        Column("gains", REALS, "how much larger its difference is than that of each reference"),
        Column("gains_low", REALS, "low ends of the 95% intervals of gains"),
        Column("gains_high", REALS, "high ends of these"),
    ),
)

_NOTES = [
    "Choice: the share of questions whose right sentence has the highest score beside its image. If several are tied "
    "for the best, and the right one is among them, a question counts 1 / (their number): a method that ignores what "
    "differs has exactly chance. Scores tie within a millionth of the larger of the best and the sum of its terms' "
    "sizes.",
    f"Blind: the same beside {BLIND_IMAGES} other test images, of other families and with no caption of this one, by "
    "the mean score. Words alone may tell which sentence is wrong; what the picture decides is the difference.",
    f"95% intervals: a bootstrap over the families of images. With several seeds they also cover the seed. {TOO_FEW}",
]


def make_choice_table(questions: str, scores: Sequence[str] | str, plan: Mapping[str, Any], **outputs: str) -> None:
    """The job that makes the table from CHOICE_SCORES of each variant and seed, in any order.

    `plan` has the values of `ChoicesPlan`, and `outputs` the names of `Outputs`. Raises `InputError` if an artifact
    of the plan is missing, or is of other questions.
    """
    planned, asked = validate(ChoicesPlan, plan, "the plan of the table"), schema.read(questions, CHOICES)
    index = ArtifactIndex([scores] if isinstance(scores, str) else scores, CHOICE_SCORES)
    runs = {
        name: [_read_choices(index.path(replace(of, split=None)), asked) for of in planned.runs(name)]
        for name in planned.measured
    }
    parts = []
    for name, entry in planned.measured.items():
        found = measure_choices(asked, runs[name]).assign(method=entry.title, variant=name, seeds=len(runs[name]))
        others = [other for other in planned.references if other != name]
        gains = [compare_choices(asked, runs[name], runs[other])[["gain", "gain_low", "gain_high"]] for other in others]
        lists = np.stack(gains, axis=-1) if gains else np.empty((len(found), 3, 0))  # (categories, 3, references)
        ends = {column: [*lists[:, place]] for place, column in enumerate(("gains", "gains_low", "gains_high"))}
        parts.append(found.assign(references=pd.Series([others] * len(found)), **ends))
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.reindex(columns=[column.name for column in CHOICE_RESULTS.columns])
    sheets = [_sheet(planned, str(category), rows) for category, rows in frame.groupby("category", sort=False)]
    document = Document(f"{planned.title}: choices", sheets, [*_NOTES, *_blind_notes(frame)])
    write_table(frame, CHOICE_RESULTS, document, Outputs(**outputs))


def _read_choices(path: str, asked: pd.DataFrame) -> Choices:
    found = schema.read(path, CHOICE_SCORES)
    if found["question"].tolist() != asked["question"].tolist():
        raise InputError(f"{path}: its scores are of other questions; delete it and run snakemake again.")
    beside, blind = (
        ChoiceScores.from_lists(found[f"{begin}scores"].tolist(), found[f"{begin}sizes"].tolist())
        for begin in ("", "blind_")
    )
    return Choices(beside, blind)


def _sheet(plan: ChoicesPlan, category: str, rows: pd.DataFrame) -> Sheet:
    one = rows.iloc[0]
    columns = [METHOD]
    columns += [column for metric in _METRICS for column in metric.printed_with_interval(f"95% of {metric.header}")]
    known = [metric for name, metric in _GROUPS.items() if rows[name].notna().any()]
    columns += [column for metric in known for column in metric.printed_with_interval(f"95% of {metric.header}")]
    columns += [column for name in plan.references for column in _gain_columns(name, plan.measured[name].title)]
    columns += [
        TableColumn("Ties", cell=lambda row: f"{row['ties']:,.0f}"),
        TableColumn("Blind ties", cell=lambda row: f"{row['blind_ties']:,.0f}"),
        variant_and_seeds(plan.measured),
    ]
    what = "All questions" if category == EVERY else category.capitalize()
    heading = (
        f"{what}: {one['questions']:,} questions about {one['images']:,} images; chance is {one['chance']:.1f} percent"
    )
    return Sheet.from_rows(heading, columns, rows.to_dict("records"))


def _gain_columns(reference: str, title: str) -> tuple[TableColumn, TableColumn]:
    """The gain of the difference on a reference, and its interval; empty in the reference's own row."""

    def print_with(write: Callable[[Mapping[str, Any], int], str]) -> Callable[[Any], str]:
        return lambda row: write(row, row["references"].index(reference)) if reference in row["references"] else ""

    return (
        TableColumn(f"Gain on {title}", cell=print_with(lambda row, place: number(row["gains"][place], sign="+"))),
        TableColumn(
            f"95% of gain on {title}",
            cell=print_with(lambda row, place: number_range((row["gains_low"][place], row["gains_high"][place]))),
        ),
    )


def _blind_notes(rows: pd.DataFrame) -> list[str]:
    beats = rows[rows["beats_chance_blind"]]
    if rows["blind_low"].isna().all():
        return ["Blind choices have no interval here, so which of them are above chance is not known."]
    if beats.empty:
        return ["Blind, no method is above chance: no interval of a blind choice lies above it."]
    named = [f"{name} ({', '.join(of['category'])})" for name, of in beats.groupby("method", sort=False)]
    return [f"Blind, these are above chance by their 95% intervals: {'; '.join(named)}. There, see the difference."]
