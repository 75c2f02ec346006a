"""Metrics of retrieval where a query may have any number of right answers, each with a gain.

All of them follow from the ranks of a query's right answers. A tie counts against the query: of candidates with one
score those with the smaller gain come first, wrong ones (gain 0) before all others.

- R@K (hit@K): the share of queries with a right answer among the first K candidates, as `densevse.evaluation.recall`.
- nDCG@K: the sum of gain / log2(1 + rank) over the first K, divided by the largest possible one (Jarvelin and
  Kekalainen, Cumulated Gain-Based Evaluation of IR Techniques, TOIS 2002, with the gain itself, as in trec_eval).
- MRR: the mean of 1 / rank of the first right answer, without a cut-off.
- R-Precision: the share of a query's R right answers among the first R candidates.
- mAP@R: the mean over the first R candidates of the precision up to a right answer, and of 0 for a wrong one (Musgrave
  et al., A Metric Learning Reality Check, ECCV 2020).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densevse.evaluation.recall import is_hit, query_failures
from densevse.runtime.arrays import Indices, Reals
from densevse.statistics.intervals import Limits, SumBootstrap, Sums

PERCENT = (0.0, 100.0)
QUERIES_AT_ONCE = 256


class AnswerRanks(NamedTuple):
    """The right answers of Q queries of one direction, query by query, best rank first."""

    query: Indices  # (answers,) ascending, from 0 to Q - 1
    rank: Reals  # (answers,) from 1; infinite for an answer that a list does not have
    gain: Reals  # (answers,) above 0

    def metrics(self, cutoffs: Iterable[int]) -> dict[str, Reals]:
        """(Q,) values from 0 to 1 of r<K> and ndcg_at_<K> for each cut-off K, mrr, map_at_r and rprecision."""
        answers = np.bincount(self.query)
        start = np.cumsum(answers) - answers
        place = np.arange(len(self.query)) - start[self.query] + 1  # of an answer among those of its query
        within_r = self.rank <= answers[self.query]
        largest_first = np.lexsort((-self.gain, self.query))
        found = {}
        for k in cutoffs:
            found[f"r{k}"] = is_hit(self.rank[start], k).astype(np.float64)
            ideal = self._sums(self.gain[largest_first] / np.log2(1 + place) * (place <= k))
            found[f"ndcg_at_{k}"] = self._sums(self.gain / np.log2(1 + self.rank) * (self.rank <= k)) / ideal
        return {
            **found,
            "mrr": 1 / self.rank[start],
            "map_at_r": self._sums(place / self.rank * within_r) / answers,
            "rprecision": self._sums(within_r) / answers,
        }

    def failures(self, candidates: int, image: Indices) -> set[str]:
        """Those of `densevse.evaluation.recall`, of queries among `candidates`, which are drawn by `image` (Q,)."""
        first = np.flatnonzero(np.diff(self.query, prepend=-1))
        return query_failures(self.rank[first], candidates, np.bincount(self.query), image)

    def _sums(self, values: NDArray[Any]) -> Reals:
        return np.bincount(self.query, values).astype(np.float64)


def answer_ranks(scores: Callable[[slice], NDArray[Any]], truth: Mapping[int, tuple[Indices, Reals]]) -> AnswerRanks:
    """The ranks of all right answers, each query against all candidates.

    `scores(queries)` returns the scores (queries of the slice, candidates) of consecutive queries, higher is closer.
    `truth` has the right answers of each query, ascending, and their gains; other queries are left out.
    """
    parts: list[tuple[Indices, Reals]] = []
    for first in range(0, max(truth) + 1, QUERIES_AT_ONCE):
        asked = [query for query in range(first, first + QUERIES_AT_ONCE) if query in truth]
        if asked:
            block = scores(slice(first, asked[-1] + 1))
            parts += [_rank_answers(block[query - first], *truth[query]) for query in asked]
    counts = [len(rank) for rank, _ in parts]
    rank, gain = (np.concatenate(column) for column in zip(*parts, strict=True))
    return AnswerRanks(np.repeat(np.arange(len(parts)), counts), rank.astype(np.float64), gain)


def _rank_answers(scores: NDArray[Any], answers: Indices, gains: Reals) -> tuple[Indices, Reals]:
    """The ranks of a query's right answers, and their gains, best rank first; `scores` (C,) are of all candidates."""
    order = np.lexsort((gains, -scores[answers]))
    falling = -scores[answers][order]
    not_below = np.searchsorted(np.sort(-scores), falling, side="right")
    # Right answers with the same score and no smaller gain are among these, and do not come before it.
    behind = np.searchsorted(falling, falling, side="right") - np.arange(len(falling)) - 1
    return not_below - behind, gains[order]


class _GroupSums(NamedTuple):
    """The values of a metric summed by group, and the numbers of queries, (groups,) each."""

    values: Reals
    queries: Reals


class MeanBootstrap:
    """Draws of groups of queries, for metrics that are means over queries, in percent, `PERCENT` but for `limits`."""

    def __init__(self, group: Mapping[str, Indices], limits: Limits | None = None) -> None:
        """`group` has the number of the group, from 0, of each query of each metric."""
        self._group, self._groups = group, 1 + max(int(one.max()) for one in group.values())
        self._intervals = SumBootstrap(np.arange(self._groups), {**dict.fromkeys(group, PERCENT), **(limits or {})})

    def means_and_intervals(self, runs: Sequence[Mapping[str, Reals]]) -> dict[str, float]:
        """The mean of each metric over runs, one for each seed, and the ends of its 95% interval.

        A run has the values of all queries, from 0 to 1, by metric. Keys are <metric>, <metric>_low and <metric>_high.
        """
        drawn = self._intervals.replicates([self._group_sums(run) for run in runs], _percentages)
        found: dict[str, float] = {}
        for name in self._group:
            low, high = self._intervals.interval(name, drawn)
            found |= {name: float(drawn.by_seed[name].mean()), f"{name}_low": low, f"{name}_high": high}
        return found

    def _group_sums(self, run: Mapping[str, Reals]) -> dict[str, _GroupSums]:
        return {
            name: _GroupSums(
                np.bincount(group, run[name], self._groups).astype(np.float64),
                np.bincount(group, minlength=self._groups).astype(np.float64),
            )
            for name, group in self._group.items()
        }


def _percentages(run: Mapping[str, _GroupSums], sums: Sums) -> dict[str, Reals]:
    with np.errstate(invalid="ignore"):  # a draw without a query has no metric
        return {name: 100 * sums(of.values) / sums(of.queries) for name, of in run.items()}
