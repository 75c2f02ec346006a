"""Draws of the queries of a test set, and the ranks of a method's answers in every draw."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.runtime.arrays import Indices, Reals
from densevse.statistics.bootstrap import FEWEST_GROUPS, REPLICATES, draw_groups
from densevse.statistics.intervals import Intervals, Limits, Replicates, average_seeds
from snakeproof.errors import InputError

QUERY = ["fold", "direction", "query_id"]


@dataclass(frozen=True)
class RankHistogram:
    """The number of queries at each rank: in the test set (the first row) and in each draw."""

    ranks: NDArray[np.int64]  # (distinct ranks,) ascending
    counts: NDArray[np.float32] | Indices  # (1 + replicates, distinct ranks)

    @classmethod
    def from_ranks(
        cls, ranks: NDArray[np.int64], group: NDArray[np.int64], draws: NDArray[np.float32]
    ) -> "RankHistogram":
        """From the ranks and groups of queries, and the count of each group in each draw."""
        from scipy import sparse  # a tenth of a second, which most jobs that reach this module need not

        different, which = np.unique(ranks, return_inverse=True)
        shape = (draws.shape[1], len(different))
        of_group = sparse.csr_array((np.ones(len(ranks), np.float32), (group, which)), shape=shape)
        once = np.ones((1, shape[0]), np.float32)
        return cls(different, np.vstack([once, draws]) @ of_group)

    @cached_property
    def totals(self) -> Reals:
        """(1 + replicates,) numbers of queries."""
        total: Reals = self.counts.sum(axis=1, dtype=np.float64)
        return total

    def mean(self) -> Reals:
        """(1 + replicates,) mean rank."""
        total: Reals = self.counts.astype(np.float64) @ self.ranks
        return total / self.totals

    def median(self) -> Reals:
        """(1 + replicates,) median rank; the mean of two middle ones."""
        up_to = self.counts.cumsum(axis=1)
        lower = (up_to > ((self.totals - 1) // 2)[:, None]).argmax(axis=1)
        upper = (up_to > (self.totals // 2)[:, None]).argmax(axis=1)
        median: Reals = (self.ranks[lower] + self.ranks[upper]) / 2
        return median


Metrics = Callable[[Mapping[str, Sequence[RankHistogram]]], dict[str, Reals]]
"""Computes metrics (1 + replicates,) from the histograms of each direction, one for each fold."""


class RankBootstrap(Intervals):
    """Draws of the queries of one test set, shared by every method that is measured on it.

    Groups are drawn within their fold, with all their queries in both directions.
    """

    def __init__(
        self,
        queries: pd.DataFrame,
        groups: Sequence[str],
        metrics: Metrics,
        limits: Limits,
        replicates: int = REPLICATES,
    ) -> None:
        """`queries` has the columns fold, direction and query_id; `groups` has the image or family of each query."""
        super().__init__(limits, replicates)
        self._queries, self._measured = queries[QUERY].reset_index(drop=True), metrics
        random = np.random.default_rng(0)
        codes = np.asarray(pd.factorize(pd.Series(groups))[0])
        self._parts, self._enough = [], True
        for fold in self._queries["fold"].unique():
            inside = (self._queries["fold"] == fold).to_numpy()
            group = np.unique(codes[inside], return_inverse=True)[1]
            draws = draw_groups(int(group.max()) + 1, replicates, random).astype(np.float32)
            self._enough &= draws.shape[1] >= FEWEST_GROUPS
            for direction in self._queries["direction"].unique():
                chosen = (self._queries.loc[inside, "direction"] == direction).to_numpy()
                self._parts.append((direction, np.flatnonzero(inside)[chosen], group[chosen], draws))

    def replicates(self, rankings: Sequence[pd.DataFrame]) -> Replicates:
        """The metrics of rankings, one for each seed, on every draw; with too few groups nothing is drawn.

        A ranking has the columns of the queries and `rank`. Raises `InputError` if its queries are not exactly these.
        """
        found = average_seeds([self._metrics(ranking) for ranking in rankings])
        return found if self._enough else found.drop_draws()

    def _metrics(self, ranking: pd.DataFrame) -> dict[str, Reals]:
        """(1 + replicates,) values of each metric, the true test set first."""
        if ranking[QUERY].to_numpy(object).tolist() != self._queries.to_numpy(object).tolist():
            raise InputError(
                "Two retrieval artifacts of one table answer different queries: they were made from different test "
                "sets. Delete results/<data set>/retrieval and run snakemake again."
            )
        ranks = ranking["rank"].to_numpy()
        histograms: dict[str, list[RankHistogram]] = {}
        for direction, rows, group, draws in self._parts:
            histograms.setdefault(direction, []).append(RankHistogram.from_ranks(ranks[rows], group, draws))
        return self._measured(histograms)
