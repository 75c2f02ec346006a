"""A table of claims from RETRIEVAL artifacts: what was measured of each, and the verdict."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from densevse.analyses.claims.plan import ClaimsPlan, PoolPlan
from densevse.analyses.claims.schemas import CLAIM_RESULTS
from densevse.analyses.claims.settings import OURS
from densevse.analyses.claims.verdicts import Judged, judge, pooled
from densevse.evaluation.metrics import DIRECTIONS
from densevse.tables.footnotes import INTERVALS, RANKS, REGIONS, changed_settings, making_notes
from densevse.tables.layout import HEADS, METRIC_HEADERS, TOTAL_HEADERS
from densevse.tables.rendering import Document, Sheet, TableColumn, named_seeds, number, number_range
from densevse.tables.resplits import INTERVAL, means_over
from densevse.tables.results import Outputs, write_table
from densevse.tables.sections import MeasuredSection, SectionArtifacts, read_section

_METRICS = {f"{side}_{key}": f"{HEADS[side]} {header}" for side in DIRECTIONS for key, header in METRIC_HEADERS.items()}
_METRICS |= TOTAL_HEADERS
_COLUMNS = (
    *(TableColumn(header, number=False) for header in ("Paper", "Claim", "Place", "Metric")),
    TableColumn("row", "Better", short="better", number=False),
    TableColumn("value", "Better", short="better"),
    TableColumn("row", "Worse", short="worse", number=False),
    TableColumn("value", "Worse", short="worse"),
    TableColumn("Gain"),
    TableColumn("95%"),
    TableColumn("Each seed"),
    *(TableColumn(header, number=False) for header in ("Seeds", "Verdict")),
)
_POOLED_COLUMNS = tuple(
    replace(column, header={"Each seed": "Each resplit"}.get(column.header, column.header)) for column in _COLUMNS
)
_NOTES = [
    "Supported: the 95% interval of the gain is above 0. Contradicted: it is below 0. Not supported: it holds 0. "
    "Undecided: too few images for an interval.",
    "Gain: the metric of the better row minus that of the worse row; for ranks the other way round. Its interval is "
    "paired: both rows are given the same drawn images.",
    f"Place: where the claim stands in the paper; `{OURS}` for a comparison of this project, of which the paper prints "
    "no figures.",
    "A verdict from one seed holds for these two trained models; another seed may give another one.",
    RANKS,
    INTERVALS,
]
_OF_POOLS = (
    "A mean over resplits is about methods that are trained on {train:,} images of {title}, whichever these are. "
    f"{INTERVAL} Single resplits are at the end; the notes on drawn images and on one seed are about them."
)


class ClaimInputs(NamedTuple):
    """The files that a table of claims is made from."""

    images: Sequence[str]  # IMAGES of each data set
    captions: Sequence[str]  # CAPTIONS of each data set
    retrievals: Sequence[str]  # RETRIEVAL of each row and seed, in any order


class _Part(NamedTuple):
    """Claims that are shown together, and the section of their rows."""

    section: MeasuredSection
    judged: Sequence[Judged]

    def within(self, pool: PoolPlan) -> bool:
        """True for a resplit of a pool."""
        return self.section.plan.dataset in pool.resplits and self.section.plan.protocol == pool.section.protocol


def make_claims_table(inputs: ClaimInputs, plan: ClaimsPlan, outputs: Outputs) -> None:
    """Make the table. Raises `InputError` if an artifact of the plan is missing or was not made as it says."""
    artifacts = SectionArtifacts.at(inputs.images, inputs.captions, inputs.retrievals)
    parts = []
    for claimed in plan.sections:
        section = read_section(claimed.section, plan.configured, artifacts)
        parts.append(_Part(section, judge(claimed.claims, section)))
    pools = [_pool(pool, parts) for pool in plan.pools]
    records = [_record(one, part.section) for part in (*pools, *parts) for one in part.judged]
    frame = pd.DataFrame(records, columns=[column.name for column in CLAIM_RESULTS.columns])
    write_table(frame, CLAIM_RESULTS, _document(plan, pools, parts), plan, outputs)


def _pool(pool: PoolPlan, parts: Sequence[_Part]) -> _Part:
    """The means over a pool's resplits, with a section that has the rows and the lineage of all."""
    found = [part for part in parts if part.within(pool)]
    made_from = [made for part in found for made in part.section.made_from]
    means = pooled({part.section.plan.dataset: part.judged for part in found}, pool.test / pool.train)
    return _Part(replace(found[0].section, plan=pool.section, made_from=made_from), means)


def _document(plan: ClaimsPlan, pools: Sequence[_Part], parts: Sequence[_Part]) -> Document:
    """Means over resplits come first; single resplits are an appendix, as a verdict on one may be luck."""
    single, alone = list[_Part](), list[_Part]()
    for part in parts:
        (single if any(part.within(pool) for pool in plan.pools) else alone).append(part)
    sections = [part.section for part in (*pools, *alone)]
    sheets = [*map(_sheet_of_pool, plan.pools, pools), *map(_sheet, alone)]
    of_pools = [_OF_POOLS.format(train=pool.train, title=pool.section.title) for pool in plan.pools]
    of_regions = [REGIONS] if any(section.plan.protocol == "regions" for section in sections) else []
    notes = [*_of_experiment(plan), *of_pools, *_NOTES, *of_regions, *_notes_on_claims(plan)]
    appendix = [*map(_sheet, single), *changed_settings(section.plan for section in sections)]
    return Document(plan.title, sheets, [*dict.fromkeys(notes), *making_notes(plan, sections)], appendix)


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
        "verdict": one.verdict,
    }


def _of_experiment(plan: ClaimsPlan) -> list[str]:
    """The question and the conclusion of a controlled experiment; none for the claims of a paper."""
    said = {"Question": plan.question, "Conclusion": plan.conclusion}
    return [f"{name}: {text}" for name, text in said.items() if text]


def _notes_on_claims(plan: ClaimsPlan) -> list[str]:
    claims = [claim for claimed in plan.sections for claim in claimed.claims]
    least = [
        f'{claim.paper}, "{claim.title}": supported only where each seed gains {number(claim.least_gain)} at least.'
        for claim in claims
        if claim.least_gain
    ]
    return least + [f'{claim.paper}, "{claim.title}": {claim.note}.' for claim in claims if claim.note]


def _sheet(part: _Part) -> Sheet:
    return Sheet(part.section.heading(), _COLUMNS, [_cells(one, part.section) for one in part.judged])


def _sheet_of_pool(pool: PoolPlan, part: _Part) -> Sheet:
    heading = f"{pool.section.title}: {means_over(len(pool.resplits), pool.train, pool.test)}"
    return Sheet(heading, _POOLED_COLUMNS, [_cells(one, part.section) for one in part.judged])


def _cells(one: Judged, section: MeasuredSection) -> list[str]:
    claim, measured, seeds = one.claim, section.plan.measured, _seeds(section)
    return [
        claim.paper,
        claim.title,
        claim.place,
        _METRICS[claim.metric],
        measured[claim.better].title,
        number(one.better, claim.metric),
        measured[claim.worse].title,
        number(one.worse, claim.metric),
        number(one.gain, sign="+"),
        number_range(one.interval, sign="+"),
        ", ".join(number(gain, sign="+") for gain in one.gains),
        _trained(one, seeds),
        one.verdict,
    ]


def _trained(one: Judged, seeds: Sequence[int]) -> str:
    """The seeds of a claim's models, and the number of resplits."""
    if one.resplits:
        return f"{len(one.resplits)} resplits, each {named_seeds(seeds)}"
    return ", ".join(map(str, seeds)) if len(seeds) > 1 else f"one seed: {seeds[0]}"
