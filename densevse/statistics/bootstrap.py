"""95% intervals by the percentile bootstrap over groups of observations, and by the jackknife.

Groups are drawn with replacement, each with all its observations (Efron and Tibshirani, An Introduction to the
Bootstrap, 1993, section 13.3; Cameron, Gelbach and Miller, Bootstrap-Based Improvements for Inference with Clustered
Errors, 2008). The jackknife leaves out one group after the other (Efron and Tibshirani, chapter 11). It is for metrics
that would be biased if a group were drawn twice.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

REPLICATES = 2000
CONFIDENCE = 0.95
FEWEST_GROUPS = 10
"""The fewest groups for a bootstrap. With one group all draws are equal, and the interval would be a point."""
TOO_FEW = f"Fewer than {FEWEST_GROUPS} images or families are too few to draw from, and give no interval."


class Interval(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float

    @property
    def detectable_difference(self) -> float:
        """The smallest difference whose interval of this width would exclude 0 with a probability of 80%.

        It is 2.8 (1.96 + 0.84) standard errors. An interval has 3.92 of them.
        """
        return 2.8 / 3.92 * (self.high - self.low)

    @property
    def excludes_zero(self) -> bool:
        """True if the whole interval lies on one side of 0."""
        return self.low > 0 or self.high < 0


UNKNOWN_INTERVAL = Interval(np.nan, np.nan)


def draw_groups(
    groups: int, replicates: int = REPLICATES, random: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """(replicates, groups) counts of each group in each draw; always the same draws, unless `random` is given."""
    random = random or np.random.default_rng(0)
    return random.multinomial(groups, np.full(groups, 1 / groups), size=replicates)


def interval_of(metrics: NDArray[Any], confidence: float = CONFIDENCE) -> Interval:
    """The interval, by default of 95%, of a metric with (replicates,) values, without undefined ones (NaN)."""
    known, tail = metrics[~np.isnan(metrics)], (1 - confidence) / 2
    if not len(known):
        return UNKNOWN_INTERVAL
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))


def interval_of_mean(values: NDArray[Any], groups: ArrayLike) -> Interval:
    """The 95% interval of the mean of values (n,), whose `groups` (n,) are drawn together."""
    codes, names = pd.factorize(np.asarray(groups))
    if len(names) < FEWEST_GROUPS:
        return UNKNOWN_INTERVAL
    group, draws = np.asarray(codes), draw_groups(len(names))
    return interval_of((draws @ np.bincount(group, values)) / (draws @ np.bincount(group)))


def drawn_statistics(
    statistic: Callable[[NDArray[np.int64]], Any], groups: ArrayLike, replicates: int = REPLICATES
) -> NDArray[Any]:
    """(replicates, ...) values of a statistic of rows, whose `groups` (n,) are drawn together; NaN with too few groups.

    Each draw is computed separately, so it also works for statistics that are not functions of sums, such as rank
    correlations.
    """
    names = np.asarray(groups)
    rows_of_group = [np.asarray(rows) for rows in pd.Series(names).groupby(names, sort=False).indices.values()]
    if len(rows_of_group) < FEWEST_GROUPS:
        return np.full((replicates, *np.shape(statistic(np.arange(len(names))))), np.nan)
    return np.array([statistic(rows) for rows in _drawn_rows(rows_of_group, replicates)])


def _drawn_rows(rows_of_group: list[NDArray[np.int64]], replicates: int) -> Iterator[NDArray[np.int64]]:
    random, groups = np.random.default_rng(0), len(rows_of_group)
    for _ in range(replicates):
        yield np.concatenate([rows_of_group[group] for group in random.integers(groups, size=groups)])


def jackknife_weights(group: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """(1 + groups, n) weights of n observations: all of them, then all but those of each group in turn.

    `group` (n,) numbers the groups from 0.
    """
    return np.vstack([np.ones_like(group), group != np.arange(group.max() + 1)[:, None]])


def jackknife_interval(values: NDArray[Any]) -> Interval:
    """The 95% interval of a metric from `values` (1 + n,) with `jackknife_weights`, for n >= 2 groups."""
    metric, without = values[0], values[1:]
    n = len(without)
    return student_interval(float(metric), float(np.sqrt((n - 1) * np.var(without))), n - 1)


def student_interval(mean: float, error: float, degrees: int) -> Interval:
    """The 95% interval of a mean by Student's distribution, from its standard error and its degrees of freedom."""
    half = float(student_quantile(degrees, (1 + CONFIDENCE) / 2)) * error
    return Interval(mean - half, mean + half)


def student_quantile(degrees: int, probability: ArrayLike) -> NDArray[np.float64]:
    """The quantile of Student's distribution at each probability; the shape is theirs."""
    from scipy.special import stdtrit  # loaded by the few jobs that need it

    quantiles: NDArray[np.float64] = stdtrit(degrees, probability)
    return quantiles
