"""A table of the rounds of a method that learns correspondences (HM-LSTM, Fig 3), with the gain of each round."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.features import CORRESPONDENCE_ACCURACY
from densevse.report.columns import METRICS, ROUNDS
from densevse.report.footnotes import INTERVALS, JUDGED, TIES, changed_settings, making_notes
from densevse.report.plan import MeasuredVariant, RoundPlan, RoundsPlan
from densevse.report.rendering import Document, Sheet, TableColumn, number, number_range
from densevse.report.results import Outputs, gain, interval_columns, metric_columns, write_table
from densevse.report.sections import Row, SectionArtifacts, as_record, measured_rows, read_section
from snakeproof import schema
from snakeproof.strict import validate

CHOICES = ("learned", "whole image", "chance", "best possible")
SHOWN_METRICS = [column for column in METRICS.values() if column.header not in ("Mean r", "mR")]
_NOTES = [
    TIES,
    INTERVALS,
    "Gain is rsum minus that of round 0, with a paired interval: both rounds are computed on the same drawn images. "
    f"{JUDGED}",
    "Accuracy is the share of phrases whose region overlaps a true box by at least 0.5, of the correspondences "
    "that the round was trained on; beside it the whole image, a region by chance, and the best of the regions.",
]


def make_rounds(
    plan: Mapping[str, Any],
    images: str,
    captions: str,
    retrievals: Sequence[str] = (),
    accuracies: Sequence[str] = (),
    **outputs: str,
) -> None:
    """The job that makes the table of a data set: `plan` is a `RoundsPlan`, `outputs` are `Outputs`.

    The files, in any order, are the data set's IMAGES and CAPTIONS, RETRIEVAL of each variant, round and seed, and with
    true boxes CORRESPONDENCE_ACCURACY of each variant, seed and round from 1. Raises `InputError` if an artifact of the
    plan is missing.
    """
    table = validate(RoundsPlan, plan, "the plan of the table")
    rounds = {f"{one.variant} round {one.number}": one for one in table.rounds}
    measured = {name: _measured_variant(one, table) for name, one in rounds.items()}
    artifacts = SectionArtifacts.from_paths([images], [captions], retrievals)
    section = read_section(table.section.model_copy(update={"measured": measured}), artifacts)
    references = {name: f"{one.variant} round 0" for name, one in rounds.items()}
    rows = measured_rows(section.measured, section.test_set, section.folds, references)
    judged = ArtifactIndex(accuracies, CORRESPONDENCE_ACCURACY)
    lines = [Line(rounds[row.variant], row, _accuracy(rounds[row.variant], table, judged)) for row in rows]
    frame = pd.DataFrame([_record(line) for line in lines], columns=[column.name for column in ROUNDS.columns])
    notes = [*_NOTES, *making_notes([section])]
    sheets = [_metrics_sheet(lines, section.heading()), _intervals_sheet(lines)]
    shown = Document(table.title, sheets, notes, changed_settings([table.section]))
    write_table(frame, ROUNDS, shown, Outputs(**outputs), table.latex_intervals)


class Line(NamedTuple):
    """A line of the table: a round, its row, and the accuracy of its correspondences, by choice."""

    round: RoundPlan
    row: Row
    accuracy: Mapping[str, float | None]


def _measured_variant(one: RoundPlan, plan: RoundsPlan) -> MeasuredVariant:
    """The measurements of a variant after a round."""
    return plan.section.measured[one.variant].model_copy(update={"model": one.model, "round": one.number})


def _accuracy(one: RoundPlan, plan: RoundsPlan, judged: ArtifactIndex) -> dict[str, float | None]:
    """The mean accuracy over seeds, of each choice; empty at round 0 and without true boxes."""
    if one.correspondences is None:
        return dict.fromkeys(CHOICES)
    seeds = plan.section.measured[one.variant].seeds
    of_seeds = [Identity(plan.section.dataset, one.correspondences, seed, one.number) for seed in seeds]
    rows = schema.read_all([judged.path(of) for of in of_seeds], CORRESPONDENCE_ACCURACY)
    mean = rows.groupby("choice")["accuracy"].mean()
    return {choice: mean.get(choice) for choice in CHOICES}


def _record(line: Line) -> dict[str, Any]:
    """A row of a ROUNDS artifact."""
    one, row, accuracy = line
    accuracies = {f"{choice.replace(' ', '_')}_accuracy": value for choice, value in accuracy.items()}
    return {**as_record(row), "variant": one.variant, "round": one.number, "gain": row.gain or 0.0, **accuracies}


_NAMES = (
    TableColumn("Method", number=False, cell=lambda line: line.row.method),
    TableColumn("Variant", number=False, cell=lambda line: line.round.variant),
    TableColumn("Round", cell=lambda line: str(line.round.number)),
)


def _metrics_sheet(lines: Sequence[Line], heading: str) -> Sheet:
    columns = (
        *_NAMES,
        *metric_columns(SHOWN_METRICS, lambda line: line.row),
        TableColumn("±", cell=lambda line: number(line.row.rsum_spread)),
        TableColumn("Gain", number=False, cell=lambda line: gain(line.row)),
        *map(_accuracy_column, CHOICES),
    )
    return Sheet.from_rows(heading, columns, lines)


def _accuracy_column(choice: str) -> TableColumn:
    def cell(line: Line) -> str:
        accuracy = line.accuracy[choice]
        return "" if accuracy is None else f"{accuracy:.3f}"

    return TableColumn(choice, "Accuracy", short="Accuracy", cell=cell)


def _intervals_sheet(lines: Sequence[Line]) -> Sheet:
    gained = TableColumn("Gain", cell=lambda line: number_range(line.row.gain_interval, sign="+"))
    columns = (*_NAMES, *interval_columns(SHOWN_METRICS, lambda line: line.row), gained)
    return Sheet.from_rows("95% intervals", columns, lines, intervals=True)
