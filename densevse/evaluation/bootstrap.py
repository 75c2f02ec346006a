"""Bootstrap draws of the queries of a retrieval, with the metrics on each."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from densevse.evaluation.metrics import DIRECTIONS, RECALL_COLUMNS, RECALLS
from densevse.evaluation.recall import totals
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
        of_folds = [_metrics(histogram) for histogram in folds]
        found |= {f"{direction}_{key}": np.mean([one[key] for one in of_folds], axis=0) for key in of_folds[0]}
    return {**found, **totals(found)}


def _metrics(histogram: RankHistogram) -> dict[str, Reals]:
    recalls = {f"r{k}": 100 * histogram.share_up_to(k) for k in RECALLS}
    return {**recalls, "median_rank": histogram.median(), "mean_rank": histogram.mean()}
