"""The table of CxC's correlations, and of retrieval of images by images and sentences by sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from densevse.analyses.cxc.measures import CXC_RANKS, CXC_SCORES, DRAWS, RIGHT, correlation
from densevse.analyses.cxc.settings import TASKS
from densevse.artifacts.families import read_families
from densevse.artifacts.index import ArtifactIndex
from densevse.evaluation.metrics import RECALLS
from densevse.evaluation.recall import is_hit
from densevse.evaluation.relevance import MeanBootstrap
from densevse.report.columns import METHOD, MetricColumn, variant_and_seeds
from densevse.report.footnotes import INTERVALS
from densevse.report.plan import LastRoundsPlan
from densevse.report.rendering import Document, Sheet, TableColumn, number_cell
from densevse.report.results import Outputs, write_table
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.strict import validate

DIRECTIONS = ("i2i", "t2t")
_RECALLS = {
    MetricColumn(f"{direction}_r{k}", REAL, f"R@{k} of {direction}, percent", False, f"R@{k}", direction): k
    for direction in DIRECTIONS
    for k in RECALLS
}
"""The recalls, and the K of each."""

CXC_RESULTS = Schema(
    "cxc_results",
    "a row of a table of CxC",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("variant", TEXT, "the variant in config/methods"),
        Column("seeds", NUMBER, "how many seeds"),
        *(
            column
            for task in TASKS
            for column in (
                Column(task, REAL, "Spearman's correlation with the ratings, percent; the mean over draws and seeds"),
                Column(f"{task}_std", REAL, "its standard deviation over draws; the mean over seeds"),
            )
        ),
        *(column for recall in _RECALLS for column in recall.with_ends()),
    ),
)

_NOTES = [
    "STS, SIS, SITS (Parekh et al., EACL 2021): Spearman's correlation, in percent, of the cosine of two vectors with "
    "people's ratings of two sentences, two images, and a sentence and an image. It is the mean over "
    f"{DRAWS:,} draws, with the standard deviation. A draw has half of the queries, and one pair of each, drawn as "
    "chosen here; the query is the first of a pair in the file.",
    f"i2i, t2t: an image, or a sentence, asks for others of its kind. A rating of at least {RIGHT:.0f} makes a right "
    "answer, in both directions; those without any do not ask. The candidates are all others. A tie is no hit.",
    INTERVALS,
]


def make_cxc_table(
    images: str, scores: Sequence[str], ranks: Sequence[str], plan: Mapping[str, Any], **outputs: str
) -> None:
    """The job that makes the table from CXC_SCORES and CXC_RANKS of each variant and seed, in any order.

    `plan` has the values of `LastRoundsPlan`, and `outputs` the names of `Outputs`. Raises `InputError` if an artifact
    of the plan is missing.
    """
    planned, families = validate(LastRoundsPlan, plan, "the plan of the table"), read_families(images)
    of_scores, of_ranks = ArtifactIndex(scores, CXC_SCORES), ArtifactIndex(ranks, CXC_RANKS)
    records = []
    for name, entry in planned.measured.items():
        runs = planned.runs(name)
        row: dict[str, Any] = {"method": entry.title, "variant": name, "seeds": len(runs)}
        row |= correlations([schema.read(of_scores.path(one), CXC_SCORES) for one in runs])
        records.append(row | recalls([schema.read(of_ranks.path(one), CXC_RANKS) for one in runs], families))
    frame = pd.DataFrame(records, columns=[column.name for column in CXC_RESULTS.columns])
    document = Document(
        f"{planned.title}: CxC", [_correlation_sheet(frame, planned), _recall_sheet(frame, planned)], _NOTES
    )
    write_table(frame, CXC_RESULTS, document, Outputs(**outputs))


def correlations(runs: Sequence[pd.DataFrame]) -> dict[str, float]:
    """The correlation of each task, and its standard deviation, means over the CXC_SCORES of several seeds."""
    found: dict[str, float] = {}
    for task in TASKS:
        values = [correlation(run[run["task"] == task]) for run in runs]
        found[task], found[f"{task}_std"] = np.mean(values, axis=0).tolist()
    return found


def recalls(runs: Sequence[pd.DataFrame], families: pd.Series) -> dict[str, float]:
    """R@K of both directions over the CXC_RANKS of several seeds, and their intervals; `families` are by image_id."""
    family = pd.Series(pd.factorize(families[runs[0]["image_id"]])[0])
    asks = {direction: (runs[0]["direction"] == direction).to_numpy() for direction in DIRECTIONS}
    group = {recall.name: family[asks[recall.group]].to_numpy() for recall in _RECALLS}
    hits = [
        {
            recall.name: is_hit(run["rank"].to_numpy()[asks[recall.group]], k).astype(float)
            for recall, k in _RECALLS.items()
        }
        for run in runs
    ]
    return MeanBootstrap(group).means_and_intervals(hits)


def _correlation_sheet(rows: pd.DataFrame, plan: LastRoundsPlan) -> Sheet:
    columns = [
        TableColumn(header, task.upper(), task.upper(), cell=number_cell(f"{task}{end}"))
        for task in TASKS
        for header, end in (("mean", ""), ("std", "_std"))
    ]
    columns = [METHOD, *columns, variant_and_seeds(plan.measured)]
    return Sheet.from_rows("Correlation with people's ratings", columns, rows.to_dict("records"))


def _recall_sheet(rows: pd.DataFrame, plan: LastRoundsPlan) -> Sheet:
    recalls = (column for recall in _RECALLS for column in recall.printed_with_interval(f"95% of {recall.header}"))
    columns = [METHOD, *recalls, variant_and_seeds(plan.measured)]
    heading = "Retrieval of images by images, and of sentences by sentences"
    return Sheet.from_rows(heading, columns, rows.to_dict("records"))
