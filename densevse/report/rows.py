"""The rows of a table's section: Random, the published rows, and ours with their intervals and differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from densevse.evaluation.bootstrap import expected_metrics, retrieval_bootstrap
from densevse.evaluation.metrics import DIRECTIONS, METRIC_COLUMNS, RECALL_COLUMNS
from densevse.evaluation.protocols import Fold, TestSet
from densevse.report.published import PublishedRow
from densevse.report.rendering import named_seeds
from densevse.statistics.bootstrap import Interval
from densevse.statistics.intervals import Intervals, Replicates


@dataclass(frozen=True)
class Row:
    """A row: its method, its metrics and, if measured, their intervals."""

    method: str  # as printed
    kind: str  # random, published or measured
    source: str  # paper and table, or variant and seeds
    variant: str  # in config/methods; empty without one
    metrics: Mapping[str, float]
    printed: Mapping[str, str] = field(default_factory=dict)  # of a published row: metrics as printed
    note: str = ""
    seeds: int = 0
    rsum_spread: float | None = None  # standard deviation of rsum over seeds
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    difference: float | None = None  # of a published row: ours minus it, over the recalls that it prints
    gain: float | None = None  # of a measured row: its rsum minus the reference row's
    gain_interval: Interval | None = None


@dataclass(frozen=True)
class Measured:
    """A variant's measurements: its title as printed, and a RETRIEVAL artifact for each seed."""

    variant: str
    title: str
    retrievals: Mapping[int, pd.DataFrame]


def random_row(test_set: TestSet, folds: list[Fold]) -> Row:
    """The expected metrics of a random ranking of these images and sentences."""
    source = "expected, by formula, on these images and sentences"
    return Row("Random", "random", source, "random", expected_metrics(test_set, folds))


def published_row(row: PublishedRow, source: str, own: Row | None) -> Row:
    """A published row, with its difference from `own`, our row of the same method, if both are comparable."""
    found = difference(own.metrics, row.metrics) if own else None
    return Row(row.method, "published", source, row.variant, row.metrics, row.printed, row.note, difference=found)


def measured_rows(
    measured: Sequence[Measured], test_set: TestSet, folds: list[Fold], reference_of: Mapping[str, str]
) -> list[Row]:
    """Our rows: metrics are means over seeds, with intervals.

    `reference_of` names the variant on which each has its paired gain.
    """
    if not measured:
        return []
    queries, groups = queries_of(test_set, folds)
    bootstrap = retrieval_bootstrap(queries, groups)
    found = {one.variant: bootstrap.replicates(list(one.retrievals.values())) for one in measured}
    return [_measured_row(one, found, bootstrap, reference_of.get(one.variant)) for one in measured]


def queries_of(test_set: TestSet, folds: list[Fold]) -> tuple[pd.DataFrame, list[str]]:
    """The queries of RETRIEVAL artifacts in order (fold, direction, query_id), and each one's family."""
    parts = []
    for number, fold in enumerate(folds):
        image_of_caption = test_set.image_of_caption[fold.captions]
        asking = fold.images[pd.Series(fold.images).isin(image_of_caption)]
        ids = (test_set.image_ids[asking], test_set.caption_ids[fold.captions])
        for direction, names, images in zip(DIRECTIONS, ids, (asking, image_of_caption), strict=True):
            rows = {"direction": direction, "query_id": names, "family": test_set.family_of_image[images]}
            parts.append(pd.DataFrame(rows).assign(fold=number))
    queries = pd.concat(parts, ignore_index=True)
    return queries.drop(columns="family"), queries["family"].tolist()


def difference(own: Mapping[str, float], theirs: Mapping[str, float]) -> float | None:
    """Ours minus theirs, summed over the recalls that they print."""
    printed = [key for key in RECALL_COLUMNS if key in theirs]
    return sum(own[key] - theirs[key] for key in printed) if printed else None


def as_record(row: Row) -> dict[str, Any]:
    """A row of a RESULTS artifact, without the columns that name its section."""
    intervals = {
        f"{key}_{end}": getattr(row.intervals.get(key), end, None) for key in METRIC_COLUMNS for end in ("low", "high")
    }
    gains = {f"gain_{end}": getattr(row.gain_interval, end, None) for end in ("low", "high")}
    plain = ("method", "kind", "source", "variant", "note", "seeds", "rsum_spread", "difference", "gain")
    metrics = {key: row.metrics.get(key) for key in METRIC_COLUMNS}
    return {**{name: getattr(row, name) for name in plain}, **metrics, **intervals, **gains}


def _measured_row(one: Measured, found: Mapping[str, Replicates], bootstrap: Intervals, named: str | None) -> Row:
    own = found[one.variant]
    metrics = {str(key): float(value) for key, value in own.by_seed.mean().items()}
    reference = found.get(named or "") if one.variant != named else None
    return Row(
        one.title,
        "measured",
        f"{one.variant}, {named_seeds(one.retrievals)}",
        one.variant,
        metrics,
        seeds=len(one.retrievals),
        rsum_spread=float(own.by_seed["rsum"].std(ddof=1)) if len(own.by_seed) > 1 else None,
        intervals={key: bootstrap.interval(key, own) for key in metrics},
        gain=metrics["rsum"] - float(reference.by_seed["rsum"].mean()) if reference else None,
        gain_interval=bootstrap.difference("rsum", own, reference) if reference else None,
    )
