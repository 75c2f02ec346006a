"""The figures of the papers' tables, computed from ranks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.tables.published import DIRECTIONS, RECALL_COLUMNS, RECALLS


def recall_figures(annotation: NDArray[Any], search: NDArray[Any]) -> dict[str, float]:
    """R@1/5/10, Med r and Mean r both ways, Sum (sm-LSTM, section 4.2) and mR (SCO, section 4.2).

    `annotation` and `search` hold the rank, from 1, of the first true answer of each query. Recalls are in percent.
    Keys are those of the artifacts: annotation_r1 ... search_mean_rank, sum, mean_recall.
    Raises `ValueError` without a query, or for ranks below 1.
    """
    figures: dict[str, float] = {}
    for direction, ranks in zip(DIRECTIONS, (annotation, search), strict=True):
        if len(ranks) == 0 or np.min(ranks) < 1:
            raise ValueError(f"{direction}: expected at least one rank, and ranks from 1")
        for k in RECALLS:
            figures[f"{direction}_r{k}"] = 100.0 * float(np.mean(ranks <= k))
        figures[f"{direction}_median_rank"] = float(np.median(ranks))
        figures[f"{direction}_mean_rank"] = float(np.mean(ranks))
    return {**figures, **totals(figures)}


def totals(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Sum and mR of the six recalls."""
    total = sum(figures[name] for name in RECALL_COLUMNS)
    return {"sum": total, "mean_recall": total / len(RECALL_COLUMNS)}


def figures_of(retrieval: pd.DataFrame) -> dict[str, float]:
    """The figures of a RETRIEVAL artifact: the mean over its folds of each fold's figures."""
    rows = [
        recall_figures(*(fold.loc[fold["direction"] == direction, "rank"].to_numpy() for direction in DIRECTIONS))
        for _, fold in retrieval.groupby("fold")
    ]
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
