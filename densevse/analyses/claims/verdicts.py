"""Verdicts on claims: the gain of the better row on the worse one, with its paired interval."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from densevse.analyses.claims.plan import ClaimPlan
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.statistics.bootstrap import Interval
from densevse.statistics.intervals import Intervals, Replicates, interval_over_resplits
from densevse.tables.layout import best_of
from densevse.tables.rows import queries_of
from densevse.tables.sections import MeasuredSection


class Judged(NamedTuple):
    """A claim with what was measured of its two rows."""

    claim: ClaimPlan
    better: float  # the metric of the better row, a mean over seeds
    worse: float
    gain: float
    interval: Interval  # of the gain
    gains: Sequence[float]  # of each seed, or of each resplit
    resplits: Sequence[str] = ()  # whose mean it is

    @property
    def verdict(self) -> str:
        """Supported and contradicted only where the interval of the gain excludes 0; see `Claim.least_gain`."""
        if np.isnan(self.interval.low):
            return "undecided"
        if not self.interval.excludes_zero:
            return "not supported"
        if self.interval.low < 0:
            return "contradicted"
        return "supported" if min(self.gains) >= self.claim.least_gain else "not supported"


def judge(claims: list[ClaimPlan], section: MeasuredSection) -> list[Judged]:
    """Each claim of a section with its gain; both rows are given the same drawn queries."""
    bootstrap = retrieval_bootstrap(*queries_of(section.test_set, section.folds))
    found = {one.variant: bootstrap.replicates(list(one.retrievals.values())) for one in section.measured}
    return [_judged(claim, found, bootstrap) for claim in claims]


def pooled(judged: Mapping[str, Sequence[Judged]], test_to_train: float) -> list[Judged]:
    """The mean of each claim that two or more resplits test; `judged` has the claims of each resplit.

    `test_to_train` is as for `interval_over_resplits`.
    """
    alike: dict[str, dict[str, Judged]] = {}
    for resplit, of_resplit in judged.items():
        for one in of_resplit:
            alike.setdefault(one.claim.model_dump_json(), {})[resplit] = one
    return [_mean(found, test_to_train) for found in alike.values() if len(found) > 1]


def _mean(of_resplits: Mapping[str, Judged], test_to_train: float) -> Judged:
    found = list(of_resplits.values())
    gains = [one.gain for one in found]
    return Judged(
        claim=found[0].claim,
        better=float(np.mean([one.better for one in found])),
        worse=float(np.mean([one.worse for one in found])),
        gain=float(np.mean(gains)),
        interval=interval_over_resplits(gains, test_to_train),
        gains=gains,
        resplits=list(of_resplits),
    )


def _judged(claim: ClaimPlan, found: Mapping[str, Replicates], bootstrap: Intervals) -> Judged:
    better, worse = found[claim.better], found[claim.worse]
    metric, other = (float(one.by_seed[claim.metric].mean()) for one in (better, worse))
    above, below = (worse, better) if best_of(claim.metric) == "lowest" else (better, worse)
    gains = (above.by_seed[claim.metric] - below.by_seed[claim.metric]).tolist()
    interval = bootstrap.difference(claim.metric, above, below)
    return Judged(claim, metric, other, float(np.mean(gains)), interval, gains)
