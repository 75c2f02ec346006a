"""The columns of tables: what Parquet and CSV store, and how Markdown, HTML and LaTeX print it.

`RESULTS` has the rows of tables of results, and `ROUNDS` those of tables of rounds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from densevse.evaluation.metrics import DIRECTIONS, RECALLS
from densevse.report.rendering import Best, TableColumn, named_seeds, number_cell, range_cell
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema


@dataclass(frozen=True)
class MetricColumn(Column):
    """A metric: its name, type and meaning where it is stored, and its header and group where it is printed."""

    header: str = ""
    group: str = ""
    best: Best | None = None

    def with_ends(self, low: str = "", high: str = "") -> tuple[Column, ...]:
        """The metric and the ends of its 95% interval, with these meanings, by default in terms of its own."""
        low, high = low or f"{self.meaning}, low end of the 95% interval", high or f"{self.meaning}, high end"
        return self, Column(f"{self.name}_low", REAL, low, True), Column(f"{self.name}_high", REAL, high, True)

    def printed(self, whose: str = "", cell: Callable[[Any], str] | None = None) -> TableColumn:
        """The column of a sheet, by default of its rows' metric; `whose` begins its group on pages that have one."""
        group, cell = f"{whose} {self.group}".strip(), cell or number_cell(self.name)
        return TableColumn(self.header, group, short=self.group, best=self.best, cell=cell)

    def printed_with_interval(self, interval: str) -> tuple[TableColumn, TableColumn]:
        """The column of a sheet and that of its 95% interval, with this header."""
        return self.printed(), TableColumn(interval, self.group, cell=range_cell(self.name))


METHOD = TableColumn("Method", number=False, cell=itemgetter("method"))


def variant_and_seeds(measured: Mapping[str, Any]) -> TableColumn:
    """The column of a row's variant and its seeds, which are those of its entry in a plan."""

    def cell(row: Mapping[str, Any]) -> str:
        return f"{row['variant']}, {named_seeds(measured[row['variant']].seeds)}"

    return TableColumn("Variant and seeds", number=False, cell=cell)


_RANKS: dict[str, tuple[str, str, Best]] = {
    **{f"r{k}": (f"R@{k}, percent", f"R@{k}", "highest") for k in RECALLS},
    "median_rank": ("Med r", "Med r", "lowest"),
    "mean_rank": ("Mean r", "Mean r", "lowest"),
}
RETRIEVAL_METRICS = tuple(
    MetricColumn(f"{direction}_{name}", REAL, meaning, True, header, direction, best)
    for direction in DIRECTIONS
    for name, (meaning, header, best) in _RANKS.items()
)

TOTALS = (
    MetricColumn("rsum", REAL, "sum of the six recalls", True, "rsum", best="highest"),
    MetricColumn("mean_recall", REAL, "mR, the mean of the six recalls", True, "mR", best="highest"),
)
METRICS = {column.name: column for column in (*RETRIEVAL_METRICS, *TOTALS)}
INTERVAL_COLUMNS = tuple(
    end
    for name, column in METRICS.items()
    for end in column.with_ends(*(f"{end} end of the 95% interval of {name}" for end in ("low", "high")))[1:]
)
_GAIN = (
    Column("gain", REAL, "rsum minus that of the row that it is compared with", nullable=True),
    Column("gain_low", REAL, "low end of the paired 95% interval of gain", nullable=True),
    Column("gain_high", REAL, "high end of the paired 95% interval of gain", nullable=True),
)
RSUM_SPREAD = Column("rsum_spread", REAL, "standard deviation of rsum over seeds", nullable=True)

RESULTS = Schema(
    "results",
    "a row of a table",
    (
        Column("dataset", TEXT, "the data set of the row's section"),
        Column("protocol", TEXT, "the protocol of the row's section"),
        Column("method", TEXT, "the method's name as printed"),
        Column("kind", TEXT, "random, published or measured"),
        Column("source", TEXT, "paper and table of a published row; variant and seeds of a measured one"),
        Column("variant", TEXT, "the variant in config/methods that the row belongs to; empty without one"),
        *METRICS.values(),
        *INTERVAL_COLUMNS,
        RSUM_SPREAD,
        *_GAIN,
        Column("difference", REAL, "ours minus a published row, summed over the recalls it prints", nullable=True),
        Column("seeds", NUMBER, "how many seeds; 0 where not measured here"),
        Column("note", TEXT, "what is special about a published row; mostly empty"),
    ),
    version=3,
)

ROUNDS = Schema(
    "rounds",
    "a round of a variant that learns correspondences",
    (
        Column("variant", TEXT, "the variant in config/methods"),
        Column("method", TEXT, "its name as printed"),
        Column("round", NUMBER, "the round; 0 is trained without correspondences"),
        Column("seeds", NUMBER, "how many seeds its metrics are means of"),
        *METRICS.values(),
        *INTERVAL_COLUMNS,
        RSUM_SPREAD,
        *_GAIN,
        *(
            Column(f"{choice}_accuracy", REAL, f"share of phrases given a right region: {meaning}", nullable=True)
            for choice, meaning in (
                ("learned", "the correspondences that the round was trained on"),
                ("whole_image", "always the whole image"),
                ("chance", "any region by chance"),
                ("best_possible", "the best of the regions"),
            )
        ),
    ),
    version=3,
)
