"""95% intervals of measured metrics, and of the difference between two methods on the same queries.

Test images are drawn anew with replacement, each with all its sentences, or in families where a data set has such: a
bootstrap over groups of queries. Two methods are given the same draws, so that what is hard for both cancels out of
their difference.

A metric that is a mean over n seeds also varies with the seeds. A bootstrap over three seeds is too narrow: its
variance is 2/3 of the right one, and it takes that variance for certain. So each replicate is moved by t s / sqrt(n),
where s is the standard deviation over the seeds and t is drawn from Student's distribution with n - 1 degrees of
freedom. Two methods with the same seeds differ by a mean over n differences, whose deviation is what counts: a round of
HM-LSTM is trained on from round 0 of its own seed, so that much of what a seed does cancels out.

An interval covers which queries were asked and, with two or more seeds, the seed of training. The candidates are those
of the test set: ranks are not computed again. benchmarks/interval_coverage.py measures how often such intervals hold.

Efron and Tibshirani, An Introduction to the Bootstrap, 1993, sections 8.6 and 13.3; Sakai, Evaluating Evaluation
Metrics Based on the Bootstrap, SIGIR 2006 (queries); Koehn, Statistical Significance Tests for Machine Translation
Evaluation, EMNLP 2004 (pairs); Cameron, Gelbach and Miller, Bootstrap-Based Improvements for Inference with Clustered
Errors, 2008 (groups); Weerahandi, Generalized Confidence Intervals, JASA 1993 (a replicate moved by Student's t).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from densevse.evaluation.metrics import DIRECTIONS, RECALL_COLUMNS, RECALLS
from densevse.evaluation.recall import totals
from densevse.runtime.errors import InputError
from densevse.statistics.bootstrap import REPLICATES, Interval, Reals, draws_of, interval_of

QUERY = ["fold", "direction", "query_id"]
LARGEST = {"rsum": 600.0, **dict.fromkeys(["mean_recall", *RECALL_COLUMNS], 100.0)}


@dataclass(frozen=True)
class Replicates:
    """A method's metrics on every drawn test set, and on the true one by seed."""

    drawn: Mapping[str, Reals]  # metric -> (replicates,), means over seeds
    by_seed: pd.DataFrame  # a row per seed, a column per metric


class Intervals:
    """95% intervals of replicates, for any kind of metric that draws of a test set give."""

    def __init__(self, replicates: int = REPLICATES) -> None:
        self._replicates = replicates

    def interval(self, metric: str, of: Replicates) -> Interval:
        """The 95% interval of a metric, within what the metric can be."""
        drawn = of.drawn[metric] + self._moved(of.by_seed[metric])
        smallest = 1.0 if metric.endswith("rank") else 0.0
        return interval_of(np.clip(drawn, smallest, LARGEST.get(metric)))

    def difference(self, metric: str, of: Replicates, reference: Replicates) -> Interval:
        """The paired 95% interval of a metric of one method less that of another.

        Seeds are pairs too, in their order; they vary independently if one method has more of them than the other.
        """
        drawn = of.drawn[metric] - reference.drawn[metric]
        own, other = of.by_seed[metric], reference.by_seed[metric]
        if len(own) == len(other):
            return interval_of(drawn + self._moved(own - other))
        return interval_of(drawn + self._moved(own) - self._moved(other, stream=1))

    def _moved(self, by_seed: pd.Series, stream: int = 0) -> Reals:
        """How far seeds may move each replicate of a mean over them; not at all with one, of which nothing is known."""
        seeds = len(by_seed)
        if seeds < 2:
            return np.zeros(self._replicates)
        student = np.random.default_rng([1, stream]).standard_t(seeds - 1, self._replicates)
        moved: Reals = student * by_seed.std(ddof=1) / np.sqrt(seeds)
        return moved


def over_seeds(drawn: Sequence[Mapping[str, Reals]]) -> Replicates:
    """From each seed's metrics, (1 + replicates,): on the true test set first."""
    mean = {key: np.mean([metrics[key] for metrics in drawn], axis=0) for key in drawn[0]}
    by_seed = pd.DataFrame([{key: values[0] for key, values in metrics.items()} for metrics in drawn])
    return Replicates({key: values[1:] for key, values in mean.items()}, by_seed)


class Bootstrap(Intervals):
    """Draws of the queries of one test set, the same for every method that is measured on it.

    `queries` holds the columns fold, direction and query_id of a RETRIEVAL artifact; `groups` says, for each of these
    queries, which image (or family of images) it belongs to. Groups are drawn within their fold.
    """

    def __init__(self, queries: pd.DataFrame, groups: Sequence[str], replicates: int = REPLICATES) -> None:
        super().__init__(replicates)
        self._queries = queries[QUERY].reset_index(drop=True)
        random = np.random.default_rng(0)
        codes = np.asarray(pd.factorize(pd.Series(groups))[0])
        self._parts = []
        for fold in self._queries["fold"].unique():
            inside = (self._queries["fold"] == fold).to_numpy()
            group = np.unique(codes[inside], return_inverse=True)[1]
            draws = draws_of(int(group.max()) + 1, replicates, random).astype(np.float32)
            for direction in DIRECTIONS:
                chosen = (self._queries.loc[inside, "direction"] == direction).to_numpy()
                self._parts.append((direction, np.flatnonzero(inside)[chosen], group[chosen], draws))

    def replicates(self, retrievals: Sequence[pd.DataFrame]) -> Replicates:
        """The metrics of RETRIEVAL artifacts, one per seed, on every draw.

        Raises `InputError` if an artifact does not answer exactly these queries.
        """
        return over_seeds([self._metrics(retrieval) for retrieval in retrievals])

    def _metrics(self, retrieval: pd.DataFrame) -> dict[str, Reals]:
        """Metric -> (1 + replicates,): on the true test set first; means over folds."""
        if retrieval[QUERY].to_numpy(object).tolist() != self._queries.to_numpy(object).tolist():
            raise InputError(
                "Two retrieval artifacts of one table answer different queries: they were made from different test "
                "sets. Delete results/<data set>/retrieval and run snakemake again."
            )
        ranks = retrieval["rank"].to_numpy()
        found: dict[str, list[Reals]] = {}
        for direction, rows, group, draws in self._parts:
            for key, values in _resampled(ranks[rows], group, draws).items():
                found.setdefault(f"{direction}_{key}", []).append(values)
        metrics = {key: np.mean(values, axis=0) for key, values in found.items()}
        return {**metrics, **totals(metrics)}


def _resampled(ranks: NDArray[np.int64], group: NDArray[np.int64], draws: NDArray[np.float32]) -> dict[str, Reals]:
    """Metrics of ranks (queries,) of groups (queries,) that are drawn so often: draws (replicates, groups).

    All metrics come from one table: how many queries of each rank a draw holds.
    """
    histogram = RankHistogram.of(ranks, group, draws)
    metrics = {f"r{k}": 100 * histogram.share_up_to(k) for k in RECALLS}
    return {**metrics, "median_rank": histogram.median(), "mean_rank": histogram.mean()}


@dataclass(frozen=True)
class RankHistogram:
    """How many queries of each rank there are: in the test set (the first row) and in each draw."""

    ranks: NDArray[np.int64]  # (different ranks,) rising
    counts: NDArray[np.float32]  # (1 + replicates, different ranks)

    @classmethod
    def of(cls, ranks: NDArray[np.int64], group: NDArray[np.int64], draws: NDArray[np.float32]) -> "RankHistogram":
        """From ranks and groups of queries, and how often each group is drawn."""
        different, which = np.unique(ranks, return_inverse=True)
        shape = (draws.shape[1], len(different))
        of_group = sparse.csr_array((np.ones(len(ranks), np.float32), (group, which)), shape=shape)
        once = np.ones((1, shape[0]), np.float32)
        return cls(different, np.vstack([once, draws]) @ of_group)

    @cached_property
    def totals(self) -> Reals:
        """(1 + replicates,) how many queries."""
        total: Reals = self.counts.sum(axis=1, dtype=np.float64)
        return total

    def share_up_to(self, rank: int) -> Reals:
        """(1 + replicates,) the share of queries of at most this rank."""
        found: Reals = self.counts[:, self.ranks <= rank].sum(axis=1, dtype=np.float64)
        return found / self.totals

    def mean(self) -> Reals:
        """(1 + replicates,) mean rank."""
        total: Reals = self.counts.astype(np.float64) @ self.ranks
        return total / self.totals

    def median(self) -> Reals:
        """(1 + replicates,) median rank; between two middle queries, the mean of theirs."""
        up_to = self.counts.cumsum(axis=1)
        lower = (up_to > ((self.totals - 1) // 2)[:, None]).argmax(axis=1)
        upper = (up_to > (self.totals // 2)[:, None]).argmax(axis=1)
        median: Reals = (self.ranks[lower] + self.ranks[upper]) / 2
        return median
