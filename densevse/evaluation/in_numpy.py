"""Ranks and the best candidates of scores that are NumPy arrays.

`densevse.evaluation.in_torch` has the same of tensors, which stay on their device. Ranks, ties and candidates of both
are equal (`tests/evaluation/test_libraries.py`).
"""

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densevse.evaluation.tiles import Comparison
from densevse.runtime.arrays import Indices


class ArrayOperations:
    """The operations of `RankCounter` on arrays of NumPy."""

    def put(self, values: NDArray[Any], _: NDArray[Any]) -> NDArray[Any]:
        """The values where these scores are."""
        return values

    def raise_to(self, scores: NDArray[Any], index: Indices, new: NDArray[Any]) -> None:
        """Raises the scores at some places to new ones that are higher."""
        np.maximum.at(scores, index, new)

    def add_at(self, counts: Indices, index: Indices, holds: NDArray[np.bool_], number: int) -> None:
        """Adds a number to the counts at those of the places where something `holds`."""
        np.add.at(counts, index, number * holds)

    def count(self, comparison: Comparison, scores: NDArray[Any], others: NDArray[Any], axis: int) -> Indices:
        """The number of scores of each row or column, along `axis`, that compare so with others."""
        found: Indices = np.count_nonzero(getattr(operator, comparison)(scores, others), axis=axis)
        return found


class TopCandidates:
    """The `top` best candidates of each query, from tiles in any order; equal scores keep the candidates' order."""

    def __init__(self, queries: int, candidates: int, top: int) -> None:
        # No score is below minus infinity, and no candidate behind this one, so that these give way to any other.
        self._scores = np.full((queries, min(top, candidates)), -math.inf)
        self._candidates = np.full(self._scores.shape, np.iinfo(np.int64).max)

    def add(self, queries: slice, candidates: slice, scores: NDArray[Any]) -> None:
        """Adds the `scores` (queries, candidates) of consecutive queries with consecutive candidates."""
        kept, names = self._scores[queries], self._candidates[queries]
        query, column = _top_places(np.ascontiguousarray(scores), kept[:, -1].astype(scores.dtype), kept.shape[1])
        old_query = np.repeat(np.arange(len(kept)), kept.shape[1])
        query_of = np.concatenate((old_query, query))
        score = np.concatenate((kept.ravel(), scores[query, column]))
        name = np.concatenate((names.ravel(), candidates.start + column))
        first = top_rows(query_of, score, name, kept.shape[1])
        self._scores[queries] = score[first].reshape(kept.shape)
        self._candidates[queries] = name[first].reshape(kept.shape)

    def top_candidates(self) -> tuple[Indices, NDArray[np.float32]]:
        """Candidates and scores, best first: both (queries, at most `top`). Scores are rounded to float32."""
        with np.errstate(over="ignore"):
            return self._candidates, self._scores.astype(np.float32)


def top_rows(query: Indices, score: NDArray[Any], candidate: Indices, top: int) -> Indices:
    """The rows of the `top` best candidates of each query, best first; equal scores are in the candidates' order."""
    order = np.lexsort((candidate, -score, query))
    place = np.arange(len(order)) - np.searchsorted(query[order], query[order])
    return order[place < top]


def _top_places(scores: NDArray[Any], bars: NDArray[Any], top: int) -> tuple[Indices, Indices]:
    """The places (query, column) of scores that may be among the `top` best, at most 2 `top` - 1 of a query.

    `bars` are the scores of the last ones so far. After the first tiles, nearly all scores are below them.
    """
    reaches = scores >= bars[:, None]
    crowded = np.flatnonzero(np.count_nonzero(reaches, axis=1) > top)
    if len(crowded):
        some = scores[crowded]
        bar = np.partition(some, -top, axis=1)[:, -top, None]
        equal = some == bar  # of these, the first ones are enough
        tied = np.count_nonzero(equal, axis=1) > 1
        equal[tied] &= np.cumsum(equal[tied], axis=1, dtype=np.int32) <= top
        reaches[crowded] = (some > bar) | equal
    query, column = np.divmod(np.flatnonzero(reaches), scores.shape[1])
    return query, column
