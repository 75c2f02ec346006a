"""95% intervals of measured metrics, and of the difference between two methods on the same queries.

Test images are drawn with replacement, each with all its sentences, or in families if a data set has them: a bootstrap
over groups of queries. Two methods share the draws, so that difficulty for both cancels in their difference.

A metric that is a mean over n seeds also varies with the seeds. A bootstrap over three seeds is too narrow: its
variance is 2/3 of the true one, and it ignores that this variance is itself uncertain. So each replicate is moved by t
s / sqrt(n), where s is the standard deviation over the seeds. The values t are evenly spaced quantiles of Student's
distribution with n - 1 degrees of freedom, in random order: as few degrees have long tails, the limits of a random
sample would be too uncertain. Two methods with the same seeds differ by a mean over n differences, and s is the
deviation of these: as a round of HM-LSTM continues from round 0 of the same seed, much of a seed's effect cancels.

An interval covers the choice of queries and, with two or more seeds, the seed of training. It does not cover the choice
of candidates: ranks are those in the whole test set. `make interval-coverage` measures how often they hold.

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
from densevse.statistics.bootstrap import (
    CONFIDENCE,
    FEWEST_GROUPS,
    REPLICATES,
    Interval,
    draw_groups,
    interval_of,
    student_interval,
    student_quantile,
)

Limits = Mapping[str, tuple[float, float]]
"""The smallest and the largest possible value of each metric."""

Run = TypeVar("Run")
Sums = Callable[[ArrayLike], Reals]
NOT_NEGATIVE = (0.0, np.inf)


@dataclass(frozen=True)
class Replicates:
    """A method's metrics on every drawn test set, and on the true one by seed."""

    drawn: Mapping[str, Reals]  # metric -> (replicates,), means over seeds
    by_seed: pd.DataFrame  # a row for each seed, a column for each metric

    def drop_draws(self) -> "Replicates":
        """The same metrics without draws, so that their intervals are unknown."""
        return replace(self, drawn={metric: np.full_like(values, np.nan) for metric, values in self.drawn.items()})


class Intervals:
    """95% intervals of replicates. Metrics are not negative, unless `limits` gives their range."""

    def __init__(self, limits: Limits | None = None, replicates: int = REPLICATES) -> None:
        self._limits, self._replicates = limits or {}, replicates

    def interval(self, metric: str, of: Replicates) -> Interval:
        """The 95% interval of a metric, within its range."""
        drawn = of.drawn[metric] + self._seed_shifts(of.by_seed[metric])
        return interval_of(np.clip(drawn, *self._limits.get(metric, NOT_NEGATIVE)))

    def difference(self, metric: str, of: Replicates, reference: Replicates) -> Interval:
        """The paired 95% interval of a metric of one method minus that of another.

        Seeds are paired too, in their order; if one method has more seeds than the other, they vary independently.
        """
        drawn = of.drawn[metric] - reference.drawn[metric]
        own, other = of.by_seed[metric], reference.by_seed[metric]
        if len(own) == len(other):
            return interval_of(drawn + self._seed_shifts(own - other))
        return interval_of(drawn + self._seed_shifts(own) - self._seed_shifts(other, stream=1))

    def holm_differences(
        self, metric: str, gains: Mapping[str, Sequence[tuple[Replicates, Replicates]]]
    ) -> dict[str, Interval]:
        """Joint 95% intervals of the difference of two gains, each of one method on another, for every name.

        Seeds of the two gains vary independently. Intervals are those of Holm's steps: the difference that is clearest,
        by its deviations from 0, has the level .05 over the number of names, the next one that over one name less, and
        so on; from the first one that contains 0, the level stays (Holm, A Simple Sequentially Rejective Multiple Test
        Procedure, 1979).
        """
        drawn = {
            name: np.diff([self._drawn_gain(metric, *pair, stream) for stream, pair in enumerate(two)], axis=0)[0]
            for name, two in gains.items()
        }
        order = sorted(drawn, key=lambda name: -abs(drawn[name].mean()) / max(drawn[name].std(), 1e-12))
        found, left = {}, len(order)
        for name in order:
            found[name] = interval_of(drawn[name], 1 - (1 - CONFIDENCE) / left)
            left -= all(interval.excludes_zero for interval in found.values())
        return found

    def _drawn_gain(self, metric: str, of: Replicates, reference: Replicates, stream: int) -> Reals:
        """The gain in each replicate, moved by its paired seeds."""
        moved = self._seed_shifts(of.by_seed[metric] - reference.by_seed[metric], stream)
        drawn: Reals = of.drawn[metric] - reference.drawn[metric] + moved
        return drawn

    def _seed_shifts(self, by_seed: pd.Series, stream: int = 0) -> Reals:
        """The shift of each replicate of a mean by its seeds; zero with one seed, whose variation is unknown."""
        seeds = len(by_seed)
        if seeds < 2:
            return np.zeros(self._replicates)
        order = np.random.default_rng([1, stream]).permutation(self._replicates)
        student = student_quantile(seeds - 1, (order + 0.5) / self._replicates)
        moved: Reals = student * by_seed.std(ddof=1) / np.sqrt(seeds)
        return moved


def average_seeds(drawn: Sequence[Mapping[str, Reals]]) -> Replicates:
    """Replicates from each seed's metrics, (1 + replicates,), which start with the true test set."""
    mean = {key: np.mean([metrics[key] for metrics in drawn], axis=0) for key in drawn[0]}
    by_seed = pd.DataFrame([{key: values[0] for key, values in metrics.items()} for metrics in drawn])
    return Replicates({key: values[1:] for key, values in mean.items()}, by_seed)


def interval_over_resplits(values: Sequence[float], test_to_train: float) -> Interval:
    """The 95% interval of a mean over n >= 2 resplits, by the corrected resampled t-test.

    Each resplit draws its own images and trains its own models, so the deviation s of `values` covers the choice of
    test images, of training images and of the seed; drawing images again would count them twice. As resplits share
    images, the variance of the mean is taken as s^2 (1 / n + `test_to_train`), where `test_to_train` is the number of
    test images over that of training images (Nadeau and Bengio, Inference for the Generalization Error, Machine
    Learning 52, 2003).
    """
    n = len(values)
    error = float(np.std(values, ddof=1) * np.sqrt(1 / n + test_to_train))
    return student_interval(float(np.mean(values)), error, n - 1)


class SumBootstrap(Intervals):
    """Draws of observations in groups, for metrics that are functions of sums over observations."""

    def __init__(self, groups: ArrayLike, limits: Limits | None = None) -> None:
        """`groups` (n,) is the group of each observation, `limits` the range of metrics."""
        super().__init__(limits)
        codes, names = pd.factorize(np.asarray(groups))
        self._enough = len(names) >= FEWEST_GROUPS
        draws = draw_groups(len(names), self._replicates)
        # (1 + replicates, n): the count of each observation in each draw; the first row is the true test set
        self._weights: Reals = np.vstack((np.ones(len(codes)), draws[:, codes])).astype(np.float64)

    def replicates(self, runs: Sequence[Run], metrics: Callable[[Run, Sums], dict[str, Reals]]) -> Replicates:
        """The metrics of runs, one for each seed, on every draw.

        `metrics` computes those of a run, (1 + replicates,) each. It gets a function that sums values (n,) of
        observations, weighted by their counts in each draw. With too few groups nothing is drawn.
        """
        found = average_seeds([metrics(run, self._sums) for run in runs])
        return found if self._enough else found.drop_draws()

    def _sums(self, values: ArrayLike) -> Reals:
        summed: Reals = self._weights @ np.asarray(values, np.float64)
        return summed
