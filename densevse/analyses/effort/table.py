"""The table of equal effort: what tuning brings each row, the rows beside each other, and whether two runs agree.

The expected best of n draws is the mean, over all subsets of n draws, of the largest figure on val among them: the
unbiased estimate of Tang, Lee, Xin et al. (Showing Your Work Doesn't Always Work, ACL 2020).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from densevse.analyses.effort.choice import CHOICE, chosen_draw
from densevse.analyses.effort.settings import TuningRun
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.tables import Protocol
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.evaluation.protocols import folds, select_split
from densevse.report.footnotes import INTERVALS
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds, number, number_cell, number_range
from densevse.report.results import Outputs, write_table
from densevse.report.sections import list_queries
from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import REPLICATES, Interval, interval_of
from densevse.statistics.intervals import Replicates
from densevse.statistics.rankings import RankBootstrap
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.strict import Strict, validate

EFFORT = Schema(
    "effort",
    "a draw of a row's settings in a run",
    (
        Column("variant", TEXT, "the row"),
        Column("run", NUMBER, "the run, from 1"),
        Column("draw", NUMBER, "its number; 0 has the configured settings"),
        Column("chosen", pa.bool_(), "whether val chose it"),
        Column("settings", TEXT, "what was drawn, and what follows from it"),
        Column("val_rsum", REAL, "rsum on val of its first training"),
        Column("val_mean", REAL, "its mean over the further seeds of val, if it is on the shortlist", nullable=True),
        Column("test_rsum", REAL, "of the chosen draw: mean rsum on test over the test seeds", nullable=True),
    ),
)


class RowPlan(Strict):
    """A row: its title, and what each of its draws changed."""

    title: str
    draws: list[dict[str, Any]]
    default_again: bool
    control: bool


class EffortPlan(Strict):
    """A table of equal effort."""

    title: str
    protocol: Protocol
    sentences: str
    rows: dict[str, RowPlan]
    reference: str
    runs: list[TuningRun]
    shortlist_within: float
    compared_at: int
    registered: str


@dataclass(frozen=True)
class Tuned:
    """A row after all trainings of a run."""

    name: str
    title: str
    choice: pd.DataFrame  # CHOICE
    tested: Replicates  # of the chosen draw, with the test seeds
    default: Replicates | None  # of draw 0
    control: Replicates | None  # of the reference with the row's chosen settings

    @property
    def chosen(self) -> int:
        """The number of the chosen draw."""
        return chosen_draw(self.choice)

    @property
    def lead(self) -> Reals:
        """(val seeds,) rsum on val of the chosen draw above the second of the shortlist; empty if it is alone there."""
        shortlist = self.choice[self.choice["val_again"].map(len) > 0]
        again = dict(zip(shortlist["draw"], map(np.array, shortlist["val_again"]), strict=True))
        best = again.pop(self.chosen)
        return best - max(again.values(), key=np.mean) if again else np.array([])


def expected_best(val: Reals, n: int) -> float:
    """The mean over all subsets of `n` of the draws, (draws,), of the largest figure on val.

    The draw with i better ones is the best of C(draws - 1 - i, n - 1) subsets.
    """
    shares = np.array([comb(len(val) - 1 - place, n - 1) for place in range(len(val))]) / comb(len(val), n)
    return float(shares @ np.sort(val)[::-1])


def expected_best_interval(val: Reals, n: int) -> Interval:
    """Its 95% interval over draws: a bootstrap of these."""
    drawn = np.random.default_rng(0).choice(val, (REPLICATES, len(val)))
    return interval_of(np.array([expected_best(one, n) for one in drawn]))


def make_effort_table(
    plan: Mapping[str, Any],
    images: str,
    captions: str,
    choices: Sequence[str],
    tested: Sequence[str],
    **outputs: str,
) -> None:
    """The job that makes a table of equal effort; `plan` is an `EffortPlan`.

    `choices` has the CHOICE of each row, run by run. `tested` has the RETRIEVAL with each test seed, run by run and row
    by row: of the chosen draw and then, where the row has them, of draw 0 and of the control.
    """
    table = validate(EffortPlan, plan, "the plan of equal effort")
    listed = schema.read(images, IMAGES), schema.read(captions, CAPTIONS)
    test_set = select_split(*listed, "test", table.sentences)
    bootstrap = retrieval_bootstrap(*list_queries(test_set, folds(test_set, table.protocol)))
    given = iter(choices), iter(tested)
    runs = [_tuned_rows(table, run, *given, bootstrap) for run in table.runs]
    sentences = len(select_split(*listed, "train", table.sentences).caption_ids)
    frame = pd.DataFrame(
        [
            record
            for number, rows in enumerate(runs, 1)
            for row in rows
            for record in _records(row, table.rows[row.name], number)
        ]
    )
    sheets = [_summary_sheet(rows, table, bootstrap, number, sentences) for number, rows in enumerate(runs, 1)]
    sheets += [_agreement_sheet(run, two, table.reference, bootstrap) for run, two in enumerate(pairwise(runs), 1)]
    found = Document(f"Equal effort: {table.title}", [*sheets, _draws_sheet(frame, table)], _notes(table))
    write_table(frame, EFFORT, found, Outputs(**outputs))


def _tuned_rows(
    table: EffortPlan, run: TuningRun, choices: Iterator[str], tested: Iterator[str], bootstrap: RankBootstrap
) -> list[Tuned]:
    def replicates() -> Replicates:
        return bootstrap.replicates([schema.read(next(tested), RETRIEVAL) for _ in run.test_seeds])

    return [
        Tuned(
            name,
            row.title,
            schema.read(next(choices), CHOICE),
            replicates(),
            replicates() if row.default_again else None,
            replicates() if row.control else None,
        )
        for name, row in table.rows.items()
    ]


def _records(row: Tuned, plan: RowPlan, run: int) -> list[dict[str, Any]]:
    return [
        {
            "variant": row.name,
            "run": run,
            "draw": draw["draw"],
            "chosen": draw["chosen"],
            "settings": ", ".join(f"{key} {value}" for key, value in plan.draws[draw["draw"]].items()),
            "val_rsum": draw["val_rsum"],
            "val_mean": float(np.mean(draw["val_again"])) if len(draw["val_again"]) else None,
            "test_rsum": _rsum(row.tested) if draw["chosen"] else None,
        }
        for draw in row.choice.to_dict("records")
    ]


def _summary_sheet(
    rows: Sequence[Tuned], table: EffortPlan, bootstrap: RankBootstrap, run: int, sentences: int
) -> Sheet:
    """A line for each row: as configured, tuned, and the gains of both."""
    reference = next(row for row in rows if row.name == table.reference)

    def effort(row: Tuned) -> tuple[int, int]:
        """The optimiser steps of a draw, and the sentences that it sees."""
        settings = table.rows[row.name].draws[0]
        return settings["epochs"] * -(-sentences // settings["batch_size"]), settings["epochs"] * sentences

    def gains(header: str, of: str, compared: Mapping[str, Replicates | None]) -> list[TableColumn]:
        """The columns of a tuned row's gain on what it is compared with, if there is such, and of its 95% interval."""

        def gain(row: Tuned) -> str:
            other = compared[row.name]
            return number(_rsum(row.tested) - _rsum(other), sign="+") if other else ""

        def interval(row: Tuned) -> str:
            other = compared[row.name]
            return number_range(bootstrap.difference("rsum", row.tested, other), sign="+") if other else ""

        return [TableColumn(f"{header} {of}", cell=gain), TableColumn("95%", cell=interval)]

    def best(row: Tuned) -> str:
        val, n = row.choice["val_rsum"].to_numpy()[1:], table.compared_at  # draw 0 is no random draw
        return (
            f"{number(expected_best(val, n))} ({number_range(expected_best_interval(val, n))})" if len(val) > n else ""
        )

    columns = (
        TableColumn("method", number=False, cell=lambda row: row.title),
        TableColumn("draws", cell=lambda row: str(len(row.choice))),
        TableColumn("steps", cell=lambda row: f"{effort(row)[0]:,}"),
        TableColumn("sentences seen", cell=lambda row: f"{effort(row)[1]:,}"),
        TableColumn("chosen draw", cell=lambda row: str(row.chosen)),
        TableColumn("its lead on val (sd)", cell=_lead_cell),
        TableColumn("configured", cell=lambda row: number(_rsum(row.default) if row.default else None)),
        TableColumn("tuned", best="highest", cell=lambda row: number(_rsum(row.tested))),
        *gains("gain of", "tuning", {row.name: row.default if row.chosen else None for row in rows}),
        *gains("gain on", reference.title, {row.name: None if row is reference else reference.tested for row in rows}),
        TableColumn("control", cell=lambda row: number(_rsum(row.control) if row.control else None)),
        *gains("gain on", "the control", {row.name: row.control for row in rows}),
        TableColumn(f"expected best of {table.compared_at} on val (95%)", cell=best),
    )
    return Sheet.from_rows("rsum on test" if run == 1 else f"rsum on test, run {run}", columns, rows)


def _lead_cell(row: Tuned) -> str:
    return f"{number(float(row.lead.mean()))} ({number(float(row.lead.std(ddof=1)))})" if len(row.lead) else "alone"


def _agreement_sheet(run: int, two: Sequence[Sequence[Tuned]], reference: str, bootstrap: RankBootstrap) -> Sheet:
    """A line for each row: its gains on the reference in two runs, and their difference, by Holm over the rows."""
    first, by_name = two[0], [{row.name: row for row in rows} for rows in two]
    pairs = {
        row.name: [(of[row.name].tested, of[reference].tested) for of in by_name]
        for row in first
        if row.name != reference
    }
    shown = bootstrap.holm_differences("rsum", pairs)

    def gain(place: int) -> TableColumn:
        def cell(row: Tuned) -> str:
            return number(_rsum(pairs[row.name][place][0]) - _rsum(pairs[row.name][place][1]), sign="+")

        return TableColumn(f"gain in run {run + place}", cell=cell)

    def verdict(row: Tuned) -> str:
        found = [judge_gain(bootstrap.difference("rsum", *pair)) for pair in pairs[row.name]]
        return found[0] if found[0] == found[1] else f"not stable: {', then '.join(found)}"

    columns = (
        TableColumn("method", number=False, cell=lambda row: row.title),
        gain(0),
        gain(1),
        TableColumn("joint 95% of the difference", cell=lambda row: number_range(shown[row.name], sign="+")),
        TableColumn("verdict", number=False, cell=verdict),
    )
    return Sheet.from_rows(f"Runs {run} and {run + 1}", columns, [row for row in first if row.name in pairs])


def judge_gain(gain: Interval) -> str:
    """The verdict of a gain by its interval; "undecided" without an interval."""
    if np.isnan(gain.low):
        return "undecided"
    return "not shown" if not gain.excludes_zero else "better" if gain.low > 0 else "worse"


def _rsum(of: Replicates) -> float:
    return float(of.by_seed["rsum"].mean())


def _draws_sheet(frame: pd.DataFrame, table: EffortPlan) -> Sheet:
    columns = (
        TableColumn("method", number=False, cell=lambda row: table.rows[row["variant"]].title),
        *[TableColumn("run", cell=lambda row: str(row["run"]))] * (len(table.runs) > 1),
        TableColumn("draw", number=False, cell=lambda row: f"{row['draw']}{', chosen' if row['chosen'] else ''}"),
        TableColumn("settings", number=False, cell=itemgetter("settings")),
        TableColumn("val", cell=number_cell("val_rsum")),
        TableColumn("mean val of the shortlist", cell=number_cell("val_mean")),
    )
    return Sheet.from_rows("Every draw: rsum", columns, frame.to_dict("records"))


def _notes(table: EffortPlan) -> list[str]:
    return [
        f"The protocol was registered in commit {table.registered}."
        if table.registered
        else "No commit is known that registered the protocol.",
        "Every draw has as many optimiser steps. Draw 0 has the configured settings but the batch and the epochs.",
        f"Choice: the draws within {table.shortlist_within:g} points of the best on val were trained again with the "
        f"{', then the '.join(named_seeds(run.val_seeds) for run in table.runs)}, whose mean on val chose. The chosen "
        "draw's lead on the second one of the shortlist is a mean over these seeds, with their standard deviation.",
        "Configured and tuned: draw 0 and the chosen draw, each trained again with the "
        f"{', then the '.join(named_seeds(run.test_seeds) for run in table.runs)}. Without a gain of "
        "tuning, draw 0 was chosen.",
        "Control: the reference with the row's chosen learning rate, training and shared parameters.",
        f"Expected best of {table.compared_at}: a mean over all subsets of so many draws, without draw 0, with an "
        "interval over draws; empty for a row without more draws.",
        INTERVALS,
    ]
