"""A table of claims from RETRIEVAL artifacts: what was measured of each, and the verdict.

The verdict is about the gain of the better row on the worse one, with its paired interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from densevse.analyses.claims.settings import OURS, ClaimPlan, ClaimsPlan, PoolPlan
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.evaluation.protocols import join_folds
from densevse.report.columns import METRICS
from densevse.report.footnotes import (
    INTERVAL,
    INTERVALS,
    RANKS,
    REGIONS,
    changed_settings,
    describe_resplits,
    making_notes,
)
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds, number, number_range
from densevse.report.results import Outputs, write_table
from densevse.report.sections import MeasuredSection, SectionArtifacts, list_queries, read_section
from densevse.statistics.bootstrap import Interval
from densevse.statistics.intervals import Intervals, Replicates, interval_over_resplits
from snakeproof.schema import NUMBER, REAL, REALS, TEXT, TEXTS, Column, Schema
from snakeproof.statements import Statement
from snakeproof.strict import validate

CLAIM_RESULTS = Schema(
    "claims",
    "a claim of a paper, tested on a data set or on several resplits of it",
    (
        Column("dataset", TEXT, "the data set; of a mean over resplits, the one that they divide"),
        Column("resplits", TEXTS, "the resplits whose mean the row is; none of a row of a single data set"),
        Column("protocol", TEXT, "the protocol"),
        Column("paper", TEXT, "the paper's name"),
        Column("claim", TEXT, "the claim in one sentence"),
        Column("place", TEXT, "where the paper prints its figures; `ours` where it prints none"),
        Column("metric", TEXT, "the metric that decides"),
        Column("better", TEXT, "the row that is claimed to be better: a variant and, if it is not the last, its round"),
        Column("worse", TEXT, "the row that it is compared with"),
        Column("better_metric", REAL, "the metric of the better row, a mean over seeds"),
        Column("worse_metric", REAL, "the metric of the worse row, a mean over seeds"),
        Column("gain", REAL, "how much better the better row is; of ranks, how much lower"),
        Column("gain_low", REAL, "low end of the paired 95% interval of gain", nullable=True),
        Column("gain_high", REAL, "high end of the paired 95% interval of gain", nullable=True),
        Column("seeds", NUMBER, "how many seeds"),
        Column("gains", REALS, "the gain of each seed, or of each resplit, in their order"),
        Column("least_gain", REAL, "what each of gains must be for the claim to be supported", nullable=True),
        Column("printed_gain", REAL, "the gain that the paper prints", nullable=True),
        Column("printed_source", TEXT, "the table and the data set of printed_gain; empty without one"),
        Column("detectable", REAL, "the smallest gain that could have been seen: 2.8 standard errors", nullable=True),
        Column(
            "verdict",
            TEXT,
            "the first that holds of: the set-up cannot show it, undecided (without an interval), one seed, "
            "contradicted, supported, published size excluded, not shown",
        ),
    ),
)

COMPARED = 1000
"""The test images for which published and measured sizes of gains are compared, as most papers have them."""

_NOTES = [
    "The verdict is the first of these that holds. The set-up cannot show it: the reason is below, or both rows rank "
    "every query alike. Undecided: too few images for an interval. One seed: with another one the gain may be another, "
    "by more than the interval says. Contradicted: the 95% interval of the gain is below 0. Supported: it is above 0. "
    "Published size excluded: it is below the published gain. Not shown: none of these.",
    "Detectable: the smallest gain that could have been seen, 2.8 standard errors. A gain of this size has an interval "
    "above 0 in four of five such measurements.",
    "Published: the gain between the same two rows in the paper, its table and data set. Its size is called excluded "
    f"only on photographs, for {COMPARED:,} test images and all six recalls; elsewhere the sizes cannot be compared.",
    "Gain: the metric of the better row minus that of the worse row; for ranks the other way round. Its interval is "
    "paired: both rows are given the same drawn images.",
    f"Place: where the claim stands in the paper; `{OURS}` for a comparison of this project, of which the paper prints "
    "no figures.",
    RANKS,
    INTERVALS,
]
_OF_POOLS = (
    "A mean over resplits is about methods that are trained on {train:,} images of {title}, whichever these are. "
    f"{INTERVAL} Single resplits are at the end; the notes on drawn images and on one seed are about them."
)


class Judged(NamedTuple):
    """A claim with what was measured of its two rows."""

    claim: ClaimPlan
    better: float  # the metric of the better row, a mean over seeds
    worse: float
    gain: float
    interval: Interval  # of the gain
    gains: Sequence[float]  # of each seed, or of each resplit
    images: int  # that are ranked against each other
    same_ranks: bool = False  # whether both rows rank every query alike, with each seed
    resplits: Sequence[str] = ()  # whose mean it is

    @property
    def verdict(self) -> str:
        """The verdict on the claim: of those that the first of `_NOTES` defines, the first that holds."""
        if self.claim.cannot_show or self.same_ranks:
            return "the set-up cannot show it"
        if np.isnan(self.interval.low):
            return "undecided"
        if len(self.gains) == 1:
            return "one seed"
        if self.interval.high < 0:
            return "contradicted"
        if self.interval.low > 0 and (self.claim.least_gain is None or min(self.gains) >= self.claim.least_gain):
            return "supported"
        return "published size excluded" if self._excludes_printed_gain() else "not shown"

    def _excludes_printed_gain(self) -> bool:
        printed = self.claim.printed
        return (
            printed is not None and printed.comparable and self.images == COMPARED and self.interval.high < printed.gain
        )


class _Part(NamedTuple):
    """Claims that are shown together, and the section of their rows."""

    section: MeasuredSection
    judged: Sequence[Judged]
    heading: str
    each: str = "Each seed"  # the header of the gains whose mean a gain is

    def is_in_pool(self, pool: PoolPlan) -> bool:
        """True for a resplit of a pool."""
        return self.section.plan.dataset in pool.resplits and self.section.plan.protocol == pool.section.protocol


def make_claims_table(
    images: Sequence[str], captions: Sequence[str], retrievals: Sequence[str], plan: Mapping[str, Any], **outputs: str
) -> None:
    """The job that makes a table of claims from files in any order: `plan` is a `ClaimsPlan`, `outputs` are `Outputs`.

    The files are IMAGES and CAPTIONS of each data set, and RETRIEVAL of each row and seed. Raises `InputError` if an
    artifact of the plan is missing.
    """
    table = validate(ClaimsPlan, plan, "the plan of the table")
    artifacts = SectionArtifacts.from_paths(images, captions, retrievals)
    parts = []
    for claimed in table.sections:
        section = read_section(claimed.section, artifacts)
        parts.append(_Part(section, judge(claimed.claims, section), section.heading()))
    pools = [_pool_part(pool, parts) for pool in table.pools]
    records = [_record(one, part.section) for part in (*pools, *parts) for one in part.judged]
    frame = pd.DataFrame(records, columns=[column.name for column in CLAIM_RESULTS.columns])
    write_table(frame, CLAIM_RESULTS, _document(table, pools, parts), Outputs(**outputs))


def judge(claims: list[ClaimPlan], section: MeasuredSection) -> list[Judged]:
    """Each claim of a section with its gain; both rows are given the same drawn queries."""
    bootstrap = retrieval_bootstrap(*list_queries(section.test_set, section.folds))
    rows = {one.variant: list(one.retrievals.values()) for one in section.measured}
    found = {variant: bootstrap.replicates(of_seeds) for variant, of_seeds in rows.items()}
    ranks = {variant: [one["rank"].tolist() for one in of_seeds] for variant, of_seeds in rows.items()}
    return [
        _judge_claim(claim, found, bootstrap, section.fold_size, ranks[claim.better] == ranks[claim.worse])
        for claim in claims
    ]


def pool_claims(judged: Mapping[str, Sequence[Judged]], test_to_train: float) -> list[Judged]:
    """The mean of each claim that two or more resplits test; `judged` has the claims of each resplit.

    `test_to_train` is as for `interval_over_resplits`.
    """
    alike: dict[str, dict[str, Judged]] = {}
    for resplit, of_resplit in judged.items():
        for one in of_resplit:
            alike.setdefault(one.claim.model_dump_json(), {})[resplit] = one
    return [_pool_claim(found, test_to_train) for found in alike.values() if len(found) > 1]


def _pool_claim(of_resplits: Mapping[str, Judged], test_to_train: float) -> Judged:
    found = list(of_resplits.values())
    gains = [one.gain for one in found]
    return Judged(
        claim=found[0].claim,
        better=float(np.mean([one.better for one in found])),
        worse=float(np.mean([one.worse for one in found])),
        gain=float(np.mean(gains)),
        interval=interval_over_resplits(gains, test_to_train),
        gains=gains,
        images=found[0].images,
        same_ranks=all(one.same_ranks for one in found),
        resplits=list(of_resplits),
    )


def _judge_claim(
    claim: ClaimPlan, found: Mapping[str, Replicates], bootstrap: Intervals, images: int, same_ranks: bool
) -> Judged:
    better, worse = found[claim.better], found[claim.worse]
    metric, other = (float(one.by_seed[claim.metric].mean()) for one in (better, worse))
    above, below = (worse, better) if METRICS[claim.metric].best == "lowest" else (better, worse)
    gains = (above.by_seed[claim.metric] - below.by_seed[claim.metric]).tolist()
    interval = bootstrap.difference(claim.metric, above, below)
    return Judged(claim, metric, other, float(np.mean(gains)), interval, gains, images, same_ranks)


def _pool_part(pool: PoolPlan, parts: Sequence[_Part]) -> _Part:
    """The means over a pool's resplits, with a section that has the rows and the statements of all."""
    found = [part for part in parts if part.is_in_pool(pool)]
    statements: dict[str, list[Statement]] = {}
    for part in found:
        for row, of_row in part.section.statements.items():
            statements.setdefault(row, []).extend(of_row)
    means = pool_claims({part.section.plan.dataset: part.judged for part in found}, pool.test / pool.train)
    section = replace(found[0].section, plan=pool.section, statements=statements)
    ranked = [len(join_folds(part.section.folds).images) for part in found]
    return _Part(section, means, f"{pool.section.title}: {describe_resplits(pool.train, ranked)}", "Each resplit")


def _document(plan: ClaimsPlan, pools: Sequence[_Part], parts: Sequence[_Part]) -> Document:
    """The document: means over resplits first, and single resplits in an appendix, as a verdict on one may be luck."""
    single, alone = list[_Part](), list[_Part]()
    for part in parts:
        (single if any(part.is_in_pool(pool) for pool in plan.pools) else alone).append(part)
    shown = [*pools, *alone]
    sections = [part.section for part in shown]
    of_pools = [_OF_POOLS.format(train=pool.train, title=pool.section.title) for pool in plan.pools]
    of_regions = [REGIONS] if any(section.plan.protocol == "regions" for section in sections) else []
    notes = [*_experiment_notes(plan), *of_pools, *_NOTES, *of_regions, *_notes_on_claims(plan)]
    appendix = [*map(_sheet, single), *changed_settings(section.plan for section in sections)]
    return Document(plan.title, [*map(_sheet, shown)], [*dict.fromkeys(notes), *making_notes(sections)], appendix)


def _seeds(section: MeasuredSection) -> list[int]:
    """The seeds of a section's rows, which are the same for all."""
    return next(iter(section.plan.measured.values())).seeds


def _record(one: Judged, section: MeasuredSection) -> dict[str, Any]:
    claim = one.claim
    return {
        "dataset": section.plan.dataset,
        "resplits": list(one.resplits),
        "protocol": section.plan.protocol,
        "paper": claim.paper,
        "claim": claim.title,
        "place": claim.place,
        "metric": claim.metric,
        "better": claim.better,
        "worse": claim.worse,
        "better_metric": one.better,
        "worse_metric": one.worse,
        "gain": one.gain,
        "gain_low": one.interval.low,
        "gain_high": one.interval.high,
        "seeds": len(_seeds(section)),
        "gains": one.gains,
        "least_gain": claim.least_gain,
        "printed_gain": claim.printed.gain if claim.printed else None,
        "printed_source": claim.printed.source if claim.printed else "",
        "detectable": one.interval.detectable_difference,
        "verdict": one.verdict,
    }


def _experiment_notes(plan: ClaimsPlan) -> list[str]:
    """The question and the conclusion of a controlled experiment; none for the claims of a paper."""
    texts = {"Question": plan.question, "Conclusion": plan.conclusion}
    return [f"{name}: {text}" for name, text in texts.items() if text]


def _notes_on_claims(plan: ClaimsPlan) -> list[str]:
    claims = [claim for claimed in plan.sections for claim in claimed.claims]
    least = [
        f'{claim.paper}, "{claim.title}": supported only where each seed gains {number(claim.least_gain)} at least.'
        for claim in claims
        if claim.least_gain is not None
    ]
    why = [
        f'{claim.paper}, "{claim.title}": the set-up cannot show it, as {claim.cannot_show}.'
        for claim in claims
        if claim.cannot_show
    ]
    return least + why + [f'{claim.paper}, "{claim.title}": {claim.note}.' for claim in claims if claim.note]


def _sheet(part: _Part) -> Sheet:
    return Sheet.from_rows(part.heading, _columns(part.section, part.each), part.judged)


def _columns(section: MeasuredSection, each: str) -> tuple[TableColumn, ...]:
    measured, seeds = section.plan.measured, _seeds(section)
    return (
        TableColumn("Paper", number=False, cell=lambda one: one.claim.paper),
        TableColumn("Claim", number=False, cell=lambda one: one.claim.title),
        TableColumn("Verdict", number=False, cell=lambda one: one.verdict),
        TableColumn("Place", number=False, cell=lambda one: one.claim.place),
        TableColumn("Metric", number=False, cell=_metric_cell),
        TableColumn("row", "Better", "Better", number=False, cell=lambda one: measured[one.claim.better].title),
        TableColumn("value", "Better", "Better", cell=lambda one: number(one.better, one.claim.metric)),
        TableColumn("row", "Worse", "Worse", number=False, cell=lambda one: measured[one.claim.worse].title),
        TableColumn("value", "Worse", "Worse", cell=lambda one: number(one.worse, one.claim.metric)),
        TableColumn("Gain", cell=lambda one: number(one.gain, sign="+")),
        TableColumn("95%", cell=lambda one: number_range(one.interval, sign="+")),
        TableColumn("Detectable", cell=lambda one: number(one.interval.detectable_difference)),
        TableColumn("Published", number=False, cell=_published_cell),
        TableColumn(each, cell=_each_cell),
        TableColumn("Seeds", number=False, cell=lambda one: _seeds_cell(one, seeds)),
    )


def _metric_cell(one: Judged) -> str:
    metric = METRICS[one.claim.metric]
    return f"{metric.group} {metric.header}".strip()


def _published_cell(one: Judged) -> str:
    printed = one.claim.printed
    return f"{number(printed.gain, sign='+')}, {printed.source}" if printed else ""


def _each_cell(one: Judged) -> str:
    """The lowest and the highest gain, as ten gains make a line as high as a paragraph; the Parquet file has all."""
    ends = one.gains if len(one.gains) == 1 else (min(one.gains), max(one.gains))
    return number_range(ends, sign="+")


def _seeds_cell(one: Judged, seeds: Sequence[int]) -> str:
    """The seeds of a claim's models, and the number of resplits."""
    if one.resplits:
        return f"{len(one.resplits)} resplits, each {named_seeds(seeds)}"
    return ", ".join(map(str, seeds)) if len(seeds) > 1 else f"one seed: {seeds[0]}"
