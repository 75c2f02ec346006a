"""The metrics of the papers' tables: R@K, Med r, Mean r and their totals, as tables print them.

R@K has one definition, for the test set and each draw of it, validation, `densevse evaluate` and analyses.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.evaluation.metrics import DIRECTIONS, RECALL_COLUMNS, RECALLS
from densevse.evaluation.protocols import TestSet
from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import student_interval
from densevse.statistics.rankings import RankHistogram
from snakeproof.logs import logger


def is_hit(rank: NDArray[Any], k: int) -> NDArray[np.bool_]:
    """True for each query with a right answer among its first `k`; `rank` is that of its first one, from 1.

    A tie is never a hit, as a rank counts every wrong candidate that scores at least as high (see `evaluate`).
    """
    hit: NDArray[np.bool_] = rank <= k
    return hit


def recall_at(k: int, queries: RankHistogram) -> Reals:
    """(1 + replicates,) R@K: the hits among the queries of the test set and of each draw, in percent."""
    hits: Reals = queries.counts[:, is_hit(queries.ranks, k)].sum(axis=1, dtype=np.float64)
    return 100 * (hits / queries.totals)


def direction_metrics(queries: RankHistogram) -> dict[str, Reals]:
    """R@1/5/10 in percent, Med r and Mean r of a direction, (1 + replicates,) each."""
    recalls = {f"r{k}": recall_at(k, queries) for k in RECALLS}
    return {**recalls, "median_rank": queries.median(), "mean_rank": queries.mean()}


def recall_metrics(i2t: NDArray[Any], t2i: NDArray[Any]) -> dict[str, float]:
    """R@1/5/10, Med r and Mean r both ways, rsum (sm-LSTM, section 4.2) and mR (SCO, section 4.2).

    `i2t` and `t2i` hold the rank, from 1, of the first true answer of each query. Recalls are in percent.
    Keys are those of the artifacts: i2t_r1 ... t2i_mean_rank, rsum, mean_recall.
    Raises `ValueError` without a query, or for ranks below 1.
    """
    metrics: dict[str, float] = {}
    for direction, ranks in zip(DIRECTIONS, (i2t, t2i), strict=True):
        if len(ranks) == 0 or np.min(ranks) < 1:
            raise ValueError(f"{direction}: expected at least one rank, and ranks from 1")
        different, counts = np.unique(ranks, return_counts=True)
        found = direction_metrics(RankHistogram(different, counts[None]))
        metrics |= {f"{direction}_{name}": float(value[0]) for name, value in found.items()}
    return {**metrics, **totals(metrics)}


def totals(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Rsum and mR of the six recalls."""
    total = sum(metrics[name] for name in RECALL_COLUMNS)
    return {"rsum": total, "mean_recall": total / len(RECALL_COLUMNS)}


BELOW_CHANCE = (
    "far below chance: half of the queries find their answer in the last quarter. Are the scores distances "
    "(lower_is_better), in another order, or all equal?"
)


def is_below_chance(retrieval: pd.DataFrame) -> bool:
    """True if half of a direction's queries, of 20 or more, find their answer in the last quarter of the candidates."""
    place = (retrieval["rank"] - 1) / (retrieval["candidates"] - 1).clip(lower=1)
    of_direction = place.groupby(retrieval["direction"])
    return bool(((of_direction.median() > 0.75) & (of_direction.size() >= FEWEST_QUERIES)).any())


NO_BETTER = "no better than chance: relative to a random order, the 95% interval of the mean rank reaches 1."
NEARLY_EQUAL = "scores are nearly all equal: more than half of the queries tie with wrong candidates."
FEWEST_QUERIES = 20


def failures(retrieval: pd.DataFrame, test_set: TestSet) -> list[str]:
    """What a RETRIEVAL artifact of a test set found no better than a model that saw or learned nothing, in sentences.

    Directions are looked at one by one, those with 20 queries or more.
    """
    of_caption = pd.Series(test_set.image_ids[test_set.image_of_caption], test_set.caption_ids)
    asks = retrieval["direction"] == "t2i"
    image = retrieval["query_id"].where(~asks, retrieval["query_id"].map(of_caption))
    answers = asks.groupby([retrieval["fold"], image]).transform("sum").where(~asks, 1)
    found = set[str]()
    for _, rows in retrieval.assign(image=image, answers=answers).groupby("direction"):
        columns = (rows[name].to_numpy() for name in ("rank", "candidates", "answers", "image", "tied"))
        found |= query_failures(*columns)
    if is_below_chance(retrieval):
        return [BELOW_CHANCE, *(found - {NO_BETTER})]
    return sorted(found)


def log_failures(found: Iterable[str]) -> None:
    """Warns of failures of scores that a person evaluates."""
    for failure in found:
        logger.warning("%s%s", "" if failure == NEARLY_EQUAL else "The result is ", failure)


def query_failures(
    rank: NDArray[Any],
    candidates: NDArray[Any] | int,
    answers: NDArray[Any] | int,
    image: NDArray[Any],
    tied: NDArray[np.bool_] | None = None,
) -> set[str]:
    """`NEARLY_EQUAL` or else `NO_BETTER`, if it holds for the queries (n,) of a direction, which are drawn by `image`.

    A query with m right `answers` has (rank - 1)(m + 1) / (wrong candidates): of a random order of w wrong candidates
    and m right ones, w / (m + 1) wrong ones are expected before the first right one, so that the mean is 1. Without
    `tied`, a query is tied that has all wrong candidates before its answer, as a rank counts ties against it.
    """
    wrong = np.broadcast_to(candidates - answers, rank.shape)
    asked = wrong > 0
    if asked.sum() < FEWEST_QUERIES:
        return set()
    relative = ((rank - 1) * (answers + 1))[asked] / wrong[asked]
    groups, _ = pd.factorize(image[asked])
    sums = np.bincount(groups, relative - relative.mean())
    error = np.sqrt(len(sums) / max(1, len(sums) - 1) * np.sum(sums**2)) / len(relative)
    interval = student_interval(float(relative.mean()), float(error), max(1, len(sums) - 1))
    are_tied = rank - 1 == wrong if tied is None else tied
    if are_tied[asked].mean() > 0.5:
        return {NEARLY_EQUAL}
    return {NO_BETTER} if interval.high >= 1 else set()


def metrics_of(retrieval: pd.DataFrame) -> dict[str, float]:
    """The metrics of a RETRIEVAL artifact: the mean over its folds of each fold's metrics."""
    rows = [
        recall_metrics(*(fold.loc[fold["direction"] == direction, "rank"].to_numpy() for direction in DIRECTIONS))
        for _, fold in retrieval.groupby("fold")
    ]
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
