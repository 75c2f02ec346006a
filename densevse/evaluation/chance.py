"""The Random row: the expected metrics of a random ranking of a table's data."""

import numpy as np
from numpy.typing import NDArray

from densevse.evaluation.metrics import DIRECTIONS, RECALLS
from densevse.evaluation.protocols import Fold, TestSet
from densevse.evaluation.recall import totals


def expected_metrics(test_set: TestSet, folds: list[Fold]) -> dict[str, float]:
    """Expected R@K and Mean r, and the median of expected ranks, with the keys of `recall_metrics`; by formula.

    With C candidates in random order, n of them true, the first true one has a rank above k with probability
    (C - n choose k) / (C choose k); its mean rank is (C + 1) / (n + 1).
    """
    rows = []
    for fold in folds:
        captions_of_image = np.bincount(test_set.image_of_caption[fold.captions], minlength=len(test_set.image_ids))
        truths = captions_of_image[fold.images]
        i2t = _expected(len(fold.captions), truths[truths > 0])
        t2i = _expected(len(fold.images), np.ones(1, dtype=np.int64))
        named = zip(DIRECTIONS, (i2t, t2i), strict=True)
        rows.append({f"{direction}_{key}": value for direction, found in named for key, value in found.items()})
    mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    return {**mean, **totals(mean)}


def _expected(candidates: int, truths: NDArray[np.int64]) -> dict[str, float]:
    counts, queries = np.unique(truths, return_counts=True)
    beyond = np.stack([_beyond(candidates, int(count)) for count in counts])  # (counts, rank 0..candidates)
    beyond = np.average(beyond, axis=0, weights=queries)
    metrics = {f"r{k}": 100 * (1 - float(beyond[min(k, candidates)])) for k in RECALLS}
    median = float(np.argmax(beyond <= 0.5))
    mean = float(np.average((candidates + 1) / (counts + 1), weights=queries))
    return {**metrics, "median_rank": median, "mean_rank": mean}


def _beyond(candidates: int, truths: int) -> NDArray[np.float64]:
    """P(the first of `truths` true candidates has a rank above k), for k = 0..candidates."""
    wrong_left = np.clip(candidates - truths - np.arange(candidates), 0, None)
    return np.concatenate([[1.0], np.cumprod(wrong_left / np.arange(candidates, 0, -1))])
