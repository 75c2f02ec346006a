"""A table of the rounds of a method that learns correspondences (HM-LSTM, Fig 3), with the gain of each round."""

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import pandas as pd

from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.features import CORRESPONDENCE_ACCURACY
from densevse.report.columns import METHOD, METRICS, ROUNDS
from densevse.report.footnotes import INTERVALS, JUDGED, TIES, changed_settings, making_notes
from densevse.report.plan import MeasuredVariant, RoundPlan, RoundsPlan
from densevse.report.rendering import Document, Sheet, TableColumn, number_cell, range_cell
from densevse.report.results import Outputs, gain, write_table
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
    records = [_record(rounds[row.variant], row, _accuracy(rounds[row.variant], table, judged)) for row in rows]
    frame = pd.DataFrame(records, columns=[column.name for column in ROUNDS.columns])
    notes = [*_NOTES, *making_notes([section])]
    sheets = [_metrics_sheet(records, section.heading()), _intervals_sheet(records)]
    shown = Document(table.title, sheets, notes, changed_settings([table.section]))
    write_table(frame, ROUNDS, shown, Outputs(**outputs), table.latex_intervals)


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


def _record(one: RoundPlan, row: Row, accuracy: Mapping[str, float | None]) -> dict[str, Any]:
    """A row of a ROUNDS artifact, and its gain as it is printed."""
    accuracies = {_accuracy_column(choice): value for choice, value in accuracy.items()}
    own = {"variant": one.variant, "round": one.number, "gain": row.gain or 0.0, "judged_gain": gain(row)}
    return {**as_record(row), **own, **accuracies}


_NAMES = (
    METHOD,
    TableColumn("Variant", number=False, cell=itemgetter("variant")),
    TableColumn("Round", cell=lambda row: str(row["round"])),
)


def _metrics_sheet(rows: Sequence[Mapping[str, Any]], heading: str) -> Sheet:
    spread = [TableColumn("±", cell=number_cell("rsum_spread"))]
    columns = (
        *_NAMES,
        *(metric.printed() for metric in SHOWN_METRICS),
        *(spread if any(pd.notna(row["rsum_spread"]) for row in rows) else []),
        TableColumn("Gain", number=False, cell=itemgetter("judged_gain")),
        *(TableColumn(one, "Accuracy", short="Accuracy", cell=partial(_accuracy_cell, one)) for one in CHOICES),
    )
    return Sheet.from_rows(heading, columns, rows)


def _accuracy_cell(choice: str, row: Mapping[str, Any]) -> str:
    accuracy = row[_accuracy_column(choice)]
    return "" if accuracy is None else f"{accuracy:.3f}"


def _accuracy_column(choice: str) -> str:
    return f"{choice.replace(' ', '_')}_accuracy"


def _intervals_sheet(rows: Sequence[Mapping[str, Any]]) -> Sheet:
    intervals = (metric.printed(cell=range_cell(metric.name)) for metric in SHOWN_METRICS)
    columns = (*_NAMES, *intervals, TableColumn("Gain", cell=range_cell("gain", "+")))
    return Sheet.from_rows("95% intervals", columns, rows, intervals=True)
