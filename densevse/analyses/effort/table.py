"""The table of equal effort and its picture: what tuning brings each row, and the rows beside each other.

The expected best of n draws (Dodge et al., Show Your Work, EMNLP 2019) is the mean, over all subsets of n draws, of the
test figure of the draw with the best val figure among them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from densevse.analyses.effort.choice import DRAWS, chosen_draw
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.tables import Protocol
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.evaluation.protocols import folds, select_split
from densevse.evaluation.recall import metrics_of
from densevse.report.figures import number_logarithmic, save_figure
from densevse.report.footnotes import INTERVALS
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds, number, number_cell, number_range
from densevse.report.results import Outputs, write_table
from densevse.report.sections import list_queries
from densevse.runtime.arrays import Reals
from densevse.statistics.intervals import Replicates
from densevse.statistics.rankings import RankBootstrap
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.strict import Strict, validate

EFFORT = Schema(
    "effort",
    "a draw of a row's settings",
    (
        Column("variant", TEXT, "the row"),
        Column("draw", NUMBER, "its number; 0 has the configured settings"),
        Column("chosen", pa.bool_(), "whether it is the best on val"),
        Column("settings", TEXT, "what was drawn, and what follows from it"),
        Column("val_rsum", REAL, "rsum on val of the epoch that was kept"),
        Column("test_rsum", REAL, "rsum on test"),
        Column("core_minutes", REAL, "wall-clock time of its training times threads, minutes"),
    ),
)


class RowPlan(Strict):
    """A row: its title, and what each of its draws changed."""

    title: str
    draws: list[dict[str, Any]]
    default_again: bool


class EffortPlan(Strict):
    """A table of equal effort."""

    title: str
    protocol: Protocol
    sentences: str
    threads: int
    rows: dict[str, RowPlan]
    reference: str
    compared_at: int
    fresh_seeds: list[int]
    least_correlation: float
    budget: int
    registered: str
    extended: str | None


@dataclass(frozen=True)
class Tuned:
    """A row after all trainings."""

    name: str
    title: str
    val: Reals  # (draws,)
    test: Reals  # (draws,) rsum of the first seed
    core_minutes: Reals  # (draws,)
    again: Replicates  # of the chosen draw with fresh seeds
    default: Replicates | None  # of draw 0 with fresh seeds

    @property
    def curve(self) -> Reals:
        """(draws,) the expected best of 1, 2, ... draws."""
        return np.array([expected_best(self.val, self.test, n) for n in range(1, len(self.val) + 1)])

    def expected_without_default(self, n: int) -> float:
        """The expected best of n draws among those without draw 0, or of all of these if fewer; NaN without any."""
        val, test = self.val[1:], self.test[1:]
        return expected_best(val, test, min(n, len(val))) if len(val) else np.nan

    @property
    def correlation(self) -> float:
        """Spearman's correlation of val and test over the draws; not a number for fewer than three."""
        return float(spearmanr(self.val, self.test).statistic) if len(self.val) > 2 else np.nan


def expected_best(val: Reals, test: Reals, n: int) -> float:
    """The mean over all subsets of `n` draws of the test figure of the subset's best draw on val, (draws,) each.

    The draw with i better ones on val is the best of C(draws - 1 - i, n - 1) subsets; of equals, the first is better.
    """
    order = np.argsort(-val, kind="stable")
    shares = np.array([comb(len(val) - 1 - place, n - 1) for place in range(len(val))]) / comb(len(val), n)
    return float(shares @ test[order])


def make_effort_table(
    plan: Mapping[str, Any],
    images: str,
    captions: str,
    draws: Sequence[str],
    tried: Sequence[str],
    again: Sequence[str],
    figure: str,
    **outputs: str,
) -> None:
    """The job that makes a table of equal effort and its picture; `plan` is an `EffortPlan`.

    `draws` has the DRAWS of each row; `tried` the RETRIEVAL of each row's draws, row by row; `again` those of its
    chosen draw and then, where the row has it, of draw 0, each with all fresh seeds.
    """
    table = validate(EffortPlan, plan, "the plan of equal effort")
    test_set = select_split(schema.read(images, IMAGES), schema.read(captions, CAPTIONS), "test", table.sentences)
    queries, groups = list_queries(test_set, folds(test_set, table.protocol))
    bootstrap = retrieval_bootstrap(queries, groups)
    rows = _tuned_rows(table, draws, iter(tried), iter(again), bootstrap)
    frame = pd.DataFrame([record for row in rows for record in _records(row, table.rows[row.name])])
    found = Document(
        f"Equal effort: {table.title}",
        [_summary_sheet(rows, table, bootstrap), _draws_sheet(frame, table)],
        _notes(rows, table),
    )
    write_table(frame, EFFORT, found, Outputs(**outputs))
    save_figure(_draw_curves(rows, table), figure, _LEGEND)


def _tuned_rows(
    table: EffortPlan, draws: Sequence[str], tried: Any, again: Any, bootstrap: RankBootstrap
) -> list[Tuned]:
    found = []
    for (name, row), path in zip(table.rows.items(), draws, strict=True):
        listed = schema.read(path, DRAWS)
        test = np.array([metrics_of(schema.read(next(tried), RETRIEVAL))["rsum"] for _ in row.draws])
        repeated = [_replicates(table, again, bootstrap) for _ in range(1 + row.default_again)]
        minutes = listed["seconds"].to_numpy() * table.threads / 60
        default = repeated[1] if row.default_again else None
        found.append(Tuned(name, row.title, listed["val_rsum"].to_numpy(), test, minutes, repeated[0], default))
    return found


def _replicates(table: EffortPlan, again: Any, bootstrap: RankBootstrap) -> Replicates:
    return bootstrap.replicates([schema.read(next(again), RETRIEVAL) for _ in table.fresh_seeds])


def _records(row: Tuned, plan: RowPlan) -> list[dict[str, Any]]:
    best = chosen_draw(pd.DataFrame({"val_rsum": row.val}))
    return [
        {
            "variant": row.name,
            "draw": draw,
            "chosen": draw == best,
            "settings": ", ".join(f"{key} {value}" for key, value in settings.items()),
            "val_rsum": row.val[draw],
            "test_rsum": row.test[draw],
            "core_minutes": row.core_minutes[draw],
        }
        for draw, settings in enumerate(plan.draws)
    ]


def _summary_sheet(rows: Sequence[Tuned], table: EffortPlan, bootstrap: RankBootstrap) -> Sheet:
    """A line for each row: as configured, tuned, the gains of both, and the expected best."""
    reference, n = next(row for row in rows if row.name == table.reference), table.compared_at
    tuning = _gain_columns("gain of tuning", lambda row: row.default, bootstrap)
    on_reference = _gain_columns(
        f"gain on {reference.title}", lambda row: None if row is reference else reference.again, bootstrap
    )
    columns = (
        TableColumn("method", number=False, cell=lambda row: row.title),
        TableColumn("draws", cell=lambda row: str(len(row.val))),
        TableColumn("core-minutes of a draw", cell=lambda row: _minutes(row.core_minutes.mean())),
        TableColumn("configured", cell=lambda row: number(_rsum(row.default) if row.default else None)),
        TableColumn("tuned", best="highest", cell=lambda row: number(_rsum(row.again))),
        *tuning,
        *on_reference,
        TableColumn(f"expected best of {n}", best="highest", cell=lambda row: number(float(row.curve[n - 1]))),
        TableColumn("of all", cell=lambda row: number(float(row.curve[-1]))),
        TableColumn(
            f"of {n - 1} but draw 0", best="highest", cell=lambda row: number(row.expected_without_default(n - 1))
        ),
        TableColumn("val and test", cell=lambda row: "" if np.isnan(row.correlation) else f"{row.correlation:.2f}"),
    )
    return Sheet.from_rows("rsum on test", columns, rows)


def _gain_columns(
    header: str, compared: Callable[[Tuned], Replicates | None], bootstrap: RankBootstrap
) -> tuple[TableColumn, TableColumn]:
    """The columns of a tuned row's gain on what it is compared with, if there is such, and of its 95% interval."""

    def gain(row: Tuned) -> str:
        other = compared(row)
        return number(_rsum(row.again) - _rsum(other), sign="+") if other else ""

    def interval(row: Tuned) -> str:
        other = compared(row)
        return number_range(bootstrap.difference("rsum", row.again, other), sign="+") if other else ""

    return TableColumn(header, cell=gain), TableColumn("95%", cell=interval)


def _rsum(of: Replicates) -> float:
    return float(of.by_seed["rsum"].mean())


def _draws_sheet(frame: pd.DataFrame, table: EffortPlan) -> Sheet:
    columns = (
        TableColumn("method", number=False, cell=lambda row: table.rows[row["variant"]].title),
        TableColumn("draw", number=False, cell=lambda row: f"{row['draw']}{', chosen' if row['chosen'] else ''}"),
        TableColumn("settings", number=False, cell=itemgetter("settings")),
        TableColumn("val", cell=number_cell("val_rsum")),
        TableColumn("test", cell=number_cell("test_rsum")),
        TableColumn("core-minutes", cell=lambda row: _minutes(row["core_minutes"])),
    )
    return Sheet.from_rows("Every draw, one seed: rsum", columns, frame.to_dict("records"))


def _minutes(value: float) -> str:
    """Minutes as text, with two decimals, as trainings on scenes take seconds."""
    return f"{value:.2f}"


def _notes(rows: Sequence[Tuned], table: EffortPlan) -> list[str]:
    unsure = [row.title for row in rows if not row.correlation >= table.least_correlation]
    notes = [
        _registration_note(table),
        f"The budget of a draw is {table.budget:,} pairs for each matched pair and direction: epochs times negatives. "
        "Draw 0 has the configured settings, and as many epochs as the budget allows.",
        "Configured and tuned: draw 0 and the best draw on val, each trained again with the "
        f"{named_seeds(table.fresh_seeds)}.",
        f"Expected best of {table.compared_at}: the test figure of the best draw on val, a mean over all subsets of so "
        "many draws; of all: the same of all draws. But draw 0: without the configured settings, which some rows owe "
        "to more earlier trials than others.",
        "Val and test: Spearman's correlation over the draws.",
        INTERVALS,
    ]
    if unsure:
        notes.append(
            f"Val and test agree on too little ({table.least_correlation:g} is needed) to call a draw the best: "
            f"{', '.join(unsure)}."
        )
    return notes


def _registration_note(table: EffortPlan) -> str:
    if not table.registered:
        return "The protocol is registered nowhere: its settings are a user's own."
    if table.extended:
        return (
            f"The protocol is registered in commit {table.registered}. Its space was extended once, after the first "
            f"draws: {table.extended}."
        )
    return f"The protocol was registered before the first draw in commit {table.registered}."


_LEGEND = (
    "The expected best of n draws: the test figure of the draw that val chooses among n, over all subsets of n draws. "
    "On the right the same against the time that n draws take."
)


def _draw_curves(rows: Sequence[Tuned], table: EffortPlan) -> Figure:
    figure = Figure(figsize=(12, 5), layout="constrained")
    figure.suptitle(f"Equal effort: {table.title}", parse_math=False)
    by_draws, by_time = figure.subplots(1, 2, sharey=True)
    for place, row in enumerate(rows):
        draws = np.arange(1, len(row.curve) + 1)
        for axes, x in ((by_draws, draws), (by_time, draws * row.core_minutes.mean())):
            axes.plot(x, row.curve, marker="o", markersize=3, color=f"C{place % 10}", label=row.title)
    by_draws.set(xlabel="draws", ylabel="expected rsum on test")
    by_time.set(xlabel="core-minutes", xscale="log")
    number_logarithmic(by_time.xaxis)
    for axes in (by_draws, by_time):
        axes.grid(alpha=0.3)
    figure.legend(*by_draws.get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return figure
