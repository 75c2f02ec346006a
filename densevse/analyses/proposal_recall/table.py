"""The table of proposers: their recall, published values, and their times."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from densevse.analyses.proposal_recall.recall import PERCENT, PROPOSAL_RECALL
from densevse.analyses.proposal_recall.settings import ProposalTablePlan
from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.proposals import PROPOSAL_TIMES
from densevse.report.published import number_or_none, read_rows, read_texts, real_number, required_text, whole_number
from densevse.report.rendering import Document, Sheet, TableColumn
from densevse.statistics.bootstrap import TOO_FEW
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import Schema
from snakeproof.strict import validate

OVERLAP_METRICS = ("average_best_overlap", *(f"recall_{percent}" for percent in PERCENT), "segment_jaccard")

PUBLISHED_PROPOSALS = {
    "proposer": required_text,
    "boxes": whole_number,
    "boxes_mean": real_number,
    **dict.fromkeys(OVERLAP_METRICS[1:], number_or_none),
}
"""The columns of published/<data set>.csv; 0 boxes means all boxes."""


class Published(NamedTuple):
    """Metrics that a proposer's authors published, and how they measured."""

    rows: Sequence[Mapping[str, Any]]  # each with the columns PUBLISHED_PROPOSALS
    images: str
    source: str


def write_table(
    recalls: Sequence[str],
    plan: Mapping[str, Any],
    markdown: str,
    html: str,
    latex: str,
    times: Sequence[str] = (),
    published: Sequence[str] = (),
) -> None:
    """The job that writes the table, from PROPOSAL_RECALL and PROPOSAL_TIMES artifacts in any order.

    `plan` is a ProposalTablePlan. `published` are the files of published/ about the data set, a CSV and a YAML, or
    none. Raises `InputError` if a proposer's artifact is missing.
    """
    planned = validate(ProposalTablePlan, plan, "the plan of the table")
    found = _read_artifacts(recalls, PROPOSAL_RECALL, planned.dataset, planned.proposers)
    seconds = _read_artifacts(times, PROPOSAL_TIMES, planned.dataset, planned.timed)
    files = {Path(file).suffix: file for file in published}
    if set(files) not in (set(), {".csv", ".yaml"}):
        raise InputError(f"{', '.join(published)}: one CSV and one YAML file of one name are needed; add the other.")
    theirs = None
    if files:
        rows = read_rows(files[".csv"], PUBLISHED_PROPOSALS)
        theirs = Published(rows, **read_texts(files[".yaml"], ("images", "source")))
    table(planned.title, found, seconds, theirs).write(markdown, html, latex)


def _read_artifacts(paths: Sequence[str], kind: Schema, dataset: str, names: Sequence[str]) -> dict[str, pd.DataFrame]:
    index = ArtifactIndex(paths, kind)
    return {name: schema.read(index.path(Identity(dataset, name)), kind) for name in names}


def table(
    title: str,
    recalls: Mapping[str, pd.DataFrame],
    times: Mapping[str, pd.DataFrame] | None = None,
    published: Published | None = None,
) -> Document:
    """The recalls (PROPOSAL_RECALL) and times (PROPOSAL_TIMES) of proposers, by name, as a table."""
    sheets = [_recall_sheet(recalls, published), *([_time_sheet(times)] if times else [])]
    facts = sorted({(int(n), int(k)) for rows in recalls.values() for n, k in rows[["true_boxes", "images"]].values})
    against = " or ".join(f"{boxes} true boxes of {images} images" for boxes, images in facts)
    notes = [
        f"Against {against}, of all splits. Overlap is intersection over union; in brackets, 95% intervals of a "
        f"bootstrap over images. {TOO_FEW} The Jaccard of segments is the mean over objects of the best of as many "
        "segments.",
        *([f"Published: {published.images}; {published.source}."] if published else []),
    ]
    return Document(f"Proposals on {title}", sheets, notes)


def _recall_sheet(recalls: Mapping[str, pd.DataFrame], published: Published | None) -> Sheet:
    names = ("average best overlap", *(f"recall at {percent / 100}" for percent in PERCENT), "Jaccard of segments")
    numbers = map(TableColumn, ("boxes looked at", "boxes per image", *names))
    cells = [
        [name, *_counts(row), *(_metric_cell(row, metric) for metric in OVERLAP_METRICS)]
        for name, rows in recalls.items()
        for row in rows.to_dict("records")
    ]
    cells += [
        [
            f"{row['proposer']}, published",
            *_counts(row),
            *(_format_metric(row.get(metric)) for metric in OVERLAP_METRICS),
        ]
        for row in (published.rows if published else [])
    ]
    return Sheet("", (TableColumn("proposer", number=False), *numbers), cells)


def _time_sheet(times: Mapping[str, pd.DataFrame]) -> Sheet:
    cells = []
    for name, rows in times.items():
        seconds = dict(zip(rows["step"], rows["seconds"], strict=True))
        contours = seconds.pop("contours", None)
        steps = ", ".join(f"{step} {value:.2f}" for step, value in seconds.items())
        cells.append([name, f"{sum(seconds.values()):.2f}", "" if contours is None else f"{contours:.2f}", steps])
    columns = (
        TableColumn("proposer", number=False),
        TableColumn("all but contours"),
        TableColumn("contours"),
        TableColumn("steps", number=False),
    )
    return Sheet("Processor seconds per image, in one process of one thread, by step", columns, cells)


def _counts(row: Mapping[Any, Any]) -> tuple[str, str]:
    return str(int(row["boxes"]) or "all"), f"{row['boxes_mean']:.0f}"


def _metric_cell(row: Mapping[Any, Any], metric: str) -> str:
    low, high = (_format_metric(row[f"{metric}_{end}"]) for end in ("low", "high"))
    return f"{_format_metric(row[metric])} [{low}, {high}]" if low else _format_metric(row[metric])


def _format_metric(value: float | None) -> str:
    return "" if pd.isna(value) else f"{value:.3f}"
