"""95% intervals of measured metrics, and of the difference between two methods on the same queries.

Test images are drawn with replacement, each with all its sentences, or in families where a data set has such: a
bootstrap over groups of queries. Two methods are given the same draws, so that what is hard for both cancels out of
their difference.

A metric that is a mean over n seeds also varies with the seeds. A bootstrap over three seeds is too narrow: its
variance is 2/3 of the right one, and it takes that variance for certain. So each replicate is moved by t s / sqrt(n),
where s is the standard deviation over the seeds and t is drawn from Student's distribution with n - 1 degrees of
freedom. Two methods with the same seeds differ by a mean over n differences, whose deviation is what counts: a round of
HM-LSTM is trained on from round 0 of its own seed, so that much of what a seed does cancels out.

An interval covers which queries were asked and, with two or more seeds, the seed of training. The candidates are those
of the test set: their ranks stay. benchmarks/interval_coverage.py measures how often such intervals hold.

Efron and Tibshirani, An Introduction to the Bootstrap, 1993, sections 8.6 and 13.3; Sakai, Evaluating Evaluation
Metrics Based on the Bootstrap, SIGIR 2006 (queries); Koehn, Statistical Significance Tests for Machine Translation
Evaluation, EMNLP 2004 (pairs); Cameron, Gelbach and Miller, Bootstrap-Based Improvements for Inference with Clustered
Errors, 2008 (groups); Weerahandi, Generalized Confidence Intervals, JASA 1993 (a replicate moved by Student's t).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import FEWEST_GROUPS, REPLICATES, Interval, draws_of, interval_of

Limits = Mapping[str, tuple[float, float]]
"""Metric -> the least and the greatest that it can be."""

Run = TypeVar("Run")
Sums = Callable[[ArrayLike], Reals]
NOT_NEGATIVE = (0.0, np.inf)


@dataclass(frozen=True)
class Replicates:
    """A method's metrics on every drawn test set, and on the true one by seed."""

    drawn: Mapping[str, Reals]  # metric -> (replicates,), means over seeds
    by_seed: pd.DataFrame  # a row per seed, a column per metric

    def undrawn(self) -> "Replicates":
        """The same metrics without draws, so that their intervals are unknown."""
        return replace(self, drawn={metric: np.full_like(values, np.nan) for metric, values in self.drawn.items()})


class Intervals:
    """95% intervals of replicates. Metrics are not negative, unless `limits` says what they can be."""

    def __init__(self, limits: Limits | None = None, replicates: int = REPLICATES) -> None:
        self._limits, self._replicates = limits or {}, replicates

    def interval(self, metric: str, of: Replicates) -> Interval:
        """The 95% interval of a metric, within what the metric can be."""
        drawn = of.drawn[metric] + self._moved(of.by_seed[metric])
        return interval_of(np.clip(drawn, *self._limits.get(metric, NOT_NEGATIVE)))

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


class SumBootstrap(Intervals):
    """Draws of observations in groups that are alike, for metrics that are functions of sums over observations."""

    def __init__(self, groups: ArrayLike, limits: Limits | None = None) -> None:
        """`groups` (n,) says which group each observation belongs to, `limits` what metrics can be."""
        super().__init__(limits)
        codes, names = pd.factorize(np.asarray(groups))
        self._enough = len(names) >= FEWEST_GROUPS
        draws = draws_of(len(names), self._replicates)
        # (1 + replicates, n): how often each observation is drawn, the true ones first
        self._weights: Reals = np.vstack((np.ones(len(codes)), draws[:, codes])).astype(np.float64)

    def replicates(self, runs: Sequence[Run], metrics: Callable[[Run, Sums], dict[str, Reals]]) -> Replicates:
        """The metrics of runs, one for each seed, on every draw.

        `metrics` gives those of a run, (1 + replicates,) each, with the help of a function that sums values (n,) of its
        observations, as often as each is drawn. Too few groups are not drawn from.
        """
        found = over_seeds([metrics(run, self._sums) for run in runs])
        return found if self._enough else found.undrawn()

    def _sums(self, values: ArrayLike) -> Reals:
        summed: Reals = self._weights @ np.asarray(values, np.float64)
        return summed
