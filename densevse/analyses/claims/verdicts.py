"""Verdicts on claims: the gain of the better row on the worse one, with its paired interval."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from densevse.analyses.claims.plan import ClaimPlan
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.statistics.bootstrap import Interval
from densevse.statistics.intervals import Intervals, Replicates
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

    @property
    def verdict(self) -> str:
        """Supported and contradicted only where the interval of the gain excludes 0."""
        if np.isnan(self.interval.low):
            return "undecided"
        if not self.interval.excludes_zero:
            return "not supported"
        return "supported" if self.interval.low > 0 else "contradicted"


def judge(claims: list[ClaimPlan], section: MeasuredSection) -> list[Judged]:
    """Each claim of a section with its gain; both rows are given the same drawn queries."""
    bootstrap = retrieval_bootstrap(*queries_of(section.test_set, section.folds))
    found = {one.variant: bootstrap.replicates(list(one.retrievals.values())) for one in section.measured}
    return [_judged(claim, found, bootstrap) for claim in claims]


def _judged(claim: ClaimPlan, found: Mapping[str, Replicates], bootstrap: Intervals) -> Judged:
    better, worse = found[claim.better], found[claim.worse]
    metric, other = (float(one.by_seed[claim.metric].mean()) for one in (better, worse))
    if best_of(claim.metric) == "lowest":
        return Judged(claim, metric, other, other - metric, bootstrap.difference(claim.metric, worse, better))
    return Judged(claim, metric, other, metric - other, bootstrap.difference(claim.metric, better, worse))
