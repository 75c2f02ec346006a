"""A table of claims from RETRIEVAL artifacts: what was measured of each, and the verdict."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from densevse.analyses.claims.plan import ClaimsPlan
from densevse.analyses.claims.schemas import CLAIM_RESULTS
from densevse.analyses.claims.settings import OURS
from densevse.analyses.claims.verdicts import Judged, judge
from densevse.evaluation.metrics import DIRECTIONS
from densevse.tables.footnotes import INTERVALS, RANKS, REGIONS, changed_settings, making_notes
from densevse.tables.layout import HEADS, METRIC_HEADERS, TOTAL_HEADERS
from densevse.tables.rendering import Document, Sheet, TableColumn, number, number_range
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


class ClaimInputs(NamedTuple):
    """The files that a table of claims is made from."""

    images: Sequence[str]  # IMAGES of each data set
    captions: Sequence[str]  # CAPTIONS of each data set
    retrievals: Sequence[str]  # RETRIEVAL of each row and seed, in any order


def make_claims_table(inputs: ClaimInputs, plan: ClaimsPlan, outputs: Outputs) -> None:
    """Make the table. Raises `InputError` if an artifact of the plan is missing or was not made as it says."""
    artifacts = SectionArtifacts.at(inputs.images, inputs.captions, inputs.retrievals)
    sections, sheets, records = [], [], list[dict[str, Any]]()
    for claimed in plan.sections:
        section = read_section(claimed.section, plan.configured, artifacts)
        judged = judge(claimed.claims, section)
        sections.append(section)
        sheets.append(_sheet(judged, section))
        records += [_record(one, section) for one in judged]
    frame = pd.DataFrame(records, columns=[column.name for column in CLAIM_RESULTS.columns])
    of_regions = [REGIONS] if any(section.plan.protocol == "regions" for section in sections) else []
    notes = [*_of_experiment(plan), *_NOTES, *of_regions, *_notes_on_claims(plan), *making_notes(plan, sections)]
    shown = Document(plan.title, sheets, notes, changed_settings(section.plan for section in sections))
    write_table(frame, CLAIM_RESULTS, shown, plan, outputs)


def _seeds(section: MeasuredSection) -> list[int]:
    """The seeds of a section's rows, which are the same for all."""
    return next(iter(section.plan.measured.values())).seeds


def _record(one: Judged, section: MeasuredSection) -> dict[str, Any]:
    claim = one.claim
    return {
        "dataset": section.plan.dataset,
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


def _sheet(judged: Sequence[Judged], section: MeasuredSection) -> Sheet:
    return Sheet(section.heading(), _COLUMNS, [_cells(one, section) for one in judged])


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
        ", ".join(map(str, seeds)) if len(seeds) > 1 else f"one seed: {seeds[0]}",
        one.verdict,
    ]
