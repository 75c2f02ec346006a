"""The bootstrap of retrieval metrics, on other drawn queries, and their expectation by chance."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.evaluation.metrics import DIRECTIONS, RECALL_COLUMNS, RECALLS
from densevse.evaluation.protocols import Fold, TestSet
from densevse.evaluation.recall import direction_metrics, totals
from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import REPLICATES
from densevse.statistics.rankings import RankBootstrap, RankHistogram

_PERCENT, RANK = (0.0, 100.0), (1.0, np.inf)
LIMITS = {
    **dict.fromkeys([*RECALL_COLUMNS, "mean_recall"], _PERCENT),
    **dict.fromkeys([f"{direction}_{mean}_rank" for direction in DIRECTIONS for mean in ("median", "mean")], RANK),
    "rsum": (0.0, 600.0),
}
"""The range of each metric."""


def retrieval_bootstrap(queries: pd.DataFrame, groups: Sequence[str], replicates: int = REPLICATES) -> RankBootstrap:
    """Draws of the queries of RETRIEVAL artifacts; `groups` has the image or family of each query."""
    return RankBootstrap(queries, groups, drawn_metrics, LIMITS, replicates)


def drawn_metrics(histograms: Mapping[str, Sequence[RankHistogram]]) -> dict[str, Reals]:
    """The metrics of a RETRIEVAL artifact on each draw, means over folds, (1 + replicates,) each."""
    found: dict[str, Reals] = {}
    for direction, folds in histograms.items():
        of_folds = [direction_metrics(histogram) for histogram in folds]
        found |= {f"{direction}_{key}": np.mean([one[key] for one in of_folds], axis=0) for key in of_folds[0]}
    return {**found, **totals(found)}


def expected_metrics(test_set: TestSet, folds: list[Fold]) -> dict[str, float]:
    """Expected R@K and Mean r, and the median of expected ranks, with the keys of `recall_metrics`; by formula.

    With C candidates in random order, n of them true, the first true one has a rank above k with probability
    (C - n choose k) / (C choose k); its mean rank is (C + 1) / (n + 1).
    """
    rows = []
    for fold in folds:
        captions_of_image = np.bincount(test_set.image_of_caption[fold.captions], minlength=len(test_set.image_ids))
        truths = captions_of_image[fold.images]
        i2t = _chance_metrics(len(fold.captions), truths[truths > 0])
        t2i = _chance_metrics(len(fold.images), np.ones(1, dtype=np.int64))
        named = zip(DIRECTIONS, (i2t, t2i), strict=True)
        rows.append({f"{direction}_{key}": value for direction, found in named for key, value in found.items()})
    mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    return {**mean, **totals(mean)}


def _chance_metrics(candidates: int, truths: NDArray[np.int64]) -> dict[str, float]:
    counts, queries = np.unique(truths, return_counts=True)
    beyond = np.stack([_rank_survival(candidates, int(count)) for count in counts])  # (counts, rank 0..candidates)
    beyond = np.average(beyond, axis=0, weights=queries)
    metrics = {f"r{k}": 100 * (1 - float(beyond[min(k, candidates)])) for k in RECALLS}
    median = float(np.argmax(beyond <= 0.5))
    mean = float(np.average((candidates + 1) / (counts + 1), weights=queries))
    return {**metrics, "median_rank": median, "mean_rank": mean}


def _rank_survival(candidates: int, truths: int) -> NDArray[np.float64]:
    """P(the first of `truths` true candidates has a rank above k), for k = 0..candidates."""
    wrong_left = np.clip(candidates - truths - np.arange(candidates), 0, None)
    return np.concatenate([[1.0], np.cumprod(wrong_left / np.arange(candidates, 0, -1))])
