"""A table of the agreement of methods' scores of image-sentence pairs with people's judgements (Flickr8k).

It has Kendall's tau-c with the single ratings of experts, and tau-b with the crowd's shares of yes, in percent, as in
the literature on caption metrics (Hessel et al., CLIPScore, EMNLP 2021, Tables 1 and 2). CLIPScore's list of the crowd
has pairs of an image and its own sentence, which are the easiest, so tau-b is computed with them and without.

Tau compares pairs of different images and sentences, which retrieval never does. So each tau is also that of centred
scores, less the mean of the image and that of the sentence (Zhou et al., Test-Time Distribution Normalization for
Contrastively Learned Vision-language Models, NeurIPS 2023).
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from densevse.analyses.human_judgements.judgements import CROWD_RANKS, JUDGEMENTS, PAIR_SCORES, SHARE_OF_YES
from densevse.analyses.human_judgements.settings import AgreementPlan
from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.evaluation.metrics import DIRECTIONS, RECALLS
from densevse.evaluation.recall import is_hit
from densevse.evaluation.relevance import MeanBootstrap
from densevse.report.columns import METHOD, MetricColumn
from densevse.report.published import any_text, number_or_none, read_rows, required_text
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds, number_cell, range_cell
from densevse.report.results import Outputs, write_table
from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import TOO_FEW, UNKNOWN_INTERVAL, Interval, drawn_statistics
from densevse.statistics.intervals import Intervals, Replicates
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.strict import validate

ENDS = (("", ""), ("_low", ", low end of the 95% interval"), ("_high", ", high end of the 95% interval"))
RECALLS_OF_CROWD = {
    MetricColumn(
        f"crowd_{direction}_r{k}",
        REAL,
        f"{direction} R@{k} with the crowd's positives, percent",
        True,
        f"R@{k}",
        direction,
    ): k
    for direction in DIRECTIONS
    for k in RECALLS
}
"""The recalls, and the K of each."""

AGREEMENT = Schema(
    "agreement",
    "a row of a table of agreement with people",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("source", TEXT, "paper of a published row; variant and seeds of a measured one"),
        Column("variant", TEXT, "the variant in config/methods; empty for a published row"),
        *(
            Column(f"{by}{end}", REAL, f"{meaning}{of}", nullable=True)
            for by, meaning in (
                ("experts", "Kendall's tau-c with the experts' ratings, percent"),
                ("crowd", "Kendall's tau-b with the crowd's shares of yes, without an image's own sentences, percent"),
                ("crowd_with_own", "the same with an image's own sentences, as published, percent"),
                ("experts_centred", "as experts, of centred scores"),
                ("crowd_centred", "as crowd, of centred scores"),
                ("crowd_with_own_centred", "as crowd_with_own, of centred scores"),
            )
            for end, of in ENDS
        ),
        *(
            Column(f"{recall.name}{end}", REAL, f"{recall.meaning}{of}", nullable=True)
            for recall in RECALLS_OF_CROWD
            for end, of in ENDS
        ),
        Column("seeds", NUMBER, "how many seeds; 0 where not measured here"),
        Column("note", TEXT, "what is special about a published row; mostly empty"),
    ),
)

TAUS = {"experts": "c", "crowd": "b", "crowd_with_own": "b"}
"""The judgements that are compared with, and the variant of Kendall's tau."""
_SCORES = (("score", ""), ("centred", "_centred"))
"""The columns of PAIR_SCORES, and the ending of the columns of their taus."""
_PRINTED = ("experts", "crowd_with_own")
"""Those of published rows."""

_PAIR = ["image_id", "caption_id"]
TAU_REPLICATES = 400
PUBLISHED_AGREEMENT = {
    "method": required_text,
    "source": any_text,
    **dict.fromkeys(_PRINTED, number_or_none),
    "note": any_text,
}
"""The columns of published/<data set>.csv."""

_JUDGED_ONLY = (
    "{}: given scores of the judged pairs alone, so that there is neither a centred score nor a place in a ranking."
)
_NOTES = [
    "Experts: Kendall's tau-c between scores and single ratings from 1 to 4, of which each pair has three. Crowd: "
    "tau-b between scores and the share of yes. Both in percent. Pairs whose sentence is the image's own are left out "
    "of the experts' list, and of the crowd's where the heading says so; the published rows have them in the crowd's.",
    "Centred: of each score the mean of its image, over all sentences of the test split, and the mean of its sentence, "
    "over all images, are taken off. Nothing is trained.",
    "95% intervals: a bootstrap over the images, each with its judgements. With several seeds a tau is the mean of "
    f"theirs, and the interval also covers the seed of training, by Student's distribution. {TOO_FEW}",
    "Epochs of one training differ in tau as much as methods do. So rows with one seed, and rows whose intervals "
    "overlap, do not say which method agrees better.",
    "Retrieval: a sentence is a right answer to its own image, and to any image of which at least two thirds of the "
    "crowd say that it describes it. Few pairs were judged, so this is no full list of right answers. A tie is no hit.",
    "A model is trained on other sentences of the same kind; the published rows are of metrics that were trained on "
    "none, or on other data.",
]


class Agreement(NamedTuple):
    """A method's agreement in percent, with its interval."""

    tau: float
    interval: Interval


def make_agreement_table(
    judgements: str,
    published: str,
    plan: Mapping[str, Any],
    scores: Sequence[str] = (),
    given: Sequence[str] = (),
    ranks: Sequence[str] = (),
    given_ranks: Sequence[str] = (),
    judged_only: Sequence[str] = (),
    **outputs: str,
) -> None:
    """The job that makes the table: `plan` is an `AgreementPlan`, and `outputs` are `Outputs`.

    `published` is a CSV of published figures; `scores` and `given` are PAIR_SCORES of variants and of given rows, and
    `ranks` and `given_ranks` their CROWD_RANKS; `judged_only` are PAIR_SCORES without such ranks. All are in any order.
    Raises `InputError` if these are not those of the plan.
    """
    compared, judged = validate(AgreementPlan, plan, "the plan of the table"), schema.read(judgements, JUDGEMENTS)
    found_scores = ArtifactIndex([*scores, *given, *judged_only], PAIR_SCORES)
    found_ranks = ArtifactIndex([*ranks, *given_ranks], CROWD_RANKS)
    records = [{**row, "variant": "", "seeds": 0} for row in read_rows(published, PUBLISHED_AGREEMENT)]
    for variant, entry in compared.measured.items():
        scored = [Identity(compared.dataset, entry.model, seed, entry.round, split="test") for seed in entry.seeds]
        runs = [schema.read(found_scores.path(one), PAIR_SCORES) for one in scored]
        source = named_seeds(entry.seeds)
        row = {"method": entry.title, "source": source, "variant": variant, "seeds": len(runs), "note": ""}
        for by, kind in TAUS.items():
            for scored_by, ending in _SCORES[:1] if entry.judged_only else _SCORES:
                tau, (low, high) = agreement(_select_judgements(judged, by), runs, kind, scored_by)
                row |= {f"{by}{ending}{end}": value for (end, _), value in zip(ENDS, (tau, low, high), strict=True)}
        if not entry.judged_only:
            row |= recalls([schema.read(found_ranks.path(one), CROWD_RANKS) for one in scored])
        records.append(row)
    alone = [entry.title for entry in compared.measured.values() if entry.judged_only]
    notes = [
        *_NOTES,
        *([_JUDGED_ONLY.format(", ".join(alone))] if alone else []),
        *(f"{row['method']}: {row['note']}." for row in records if row["note"]),
    ]
    frame = pd.DataFrame(records, columns=[column.name for column in AGREEMENT.columns])
    document = Document(
        f"{compared.title}: agreement with people", [_sheet(frame, judged), _recall_sheet(frame, judged)], notes
    )
    write_table(frame, AGREEMENT, document, Outputs(**outputs))


def recalls(runs: Sequence[pd.DataFrame]) -> dict[str, float]:
    """R@K of several seeds with the crowd's positives, in percent, by RECALLS_OF_CROWD, and their intervals."""
    of = {recall: (runs[0]["direction"] == recall.group).to_numpy() for recall in RECALLS_OF_CROWD}
    images = {recall.name: runs[0]["image"].to_numpy()[rows] for recall, rows in of.items()}

    def hits(run: pd.DataFrame) -> dict[str, Reals]:
        ranks = run["rank"].to_numpy()
        return {one.name: is_hit(ranks[of[one]], k).astype(np.float64) for one, k in RECALLS_OF_CROWD.items()}

    return MeanBootstrap(images).means_and_intervals([hits(run) for run in runs])


def agreement(judged: pd.DataFrame, runs: Sequence[pd.DataFrame], kind: str, scored_by: str = "score") -> Agreement:
    """Kendall's tau of the scores of several seeds with judgements, in percent, and its interval.

    `scored_by` is the column of PAIR_SCORES. The interval covers the images and, with several seeds, the seed. Raises
    `InputError` if a judged pair has no score.
    """
    if judged.empty:
        return Agreement(float("nan"), UNKNOWN_INTERVAL)
    scores = [_run_scores(judged, run, scored_by) for run in runs]
    rating = judged["rating"].to_numpy()

    def taus(rows: np.ndarray[Any, Any]) -> list[float]:
        return [100 * float(kendalltau(run[rows], rating[rows], variant=kind).statistic) for run in scores]

    drawn = drawn_statistics(taus, judged["image_id"], TAU_REPLICATES)
    found = Replicates({"tau": drawn.mean(axis=1)}, pd.DataFrame({"tau": taus(np.arange(len(judged)))}))
    intervals = Intervals({"tau": (-100.0, 100.0)}, TAU_REPLICATES)
    return Agreement(float(found.by_seed["tau"].mean()), intervals.interval("tau", found))


def _select_judgements(judged: pd.DataFrame, by: str) -> pd.DataFrame:
    """The judgements by experts, or by the crowd without pairs of an image and its own sentence, or with them."""
    if by == "crowd_with_own":
        return judged[judged["by"] == "crowd"]
    own = judged["caption_id"].str.rpartition("#")[0] == judged["image_id"]
    return judged[(judged["by"] == by) & ~own]


def _run_scores(judged: pd.DataFrame, run: pd.DataFrame, scored_by: str) -> np.ndarray[Any, Any]:
    found = judged[_PAIR].merge(run, on=_PAIR, how="left", validate="many_to_one")[scored_by]
    if found.isna().any():
        missing = judged.loc[found.isna().to_numpy(), _PAIR].iloc[0].tolist()
        raise InputError(f"{int(found.isna().sum())} judged pairs have no score, among them {missing}.")
    return found.to_numpy()


def _sheet(rows: pd.DataFrame, judged: pd.DataFrame) -> Sheet:
    columns = (
        METHOD,
        TableColumn("Source", number=False, cell=itemgetter("source")),
        *_columns("experts", "Experts", "Experts"),
        *_columns("crowd", "Crowd, without own sentences", "crowd without own"),
        *_columns("crowd_with_own", "Crowd, with own sentences", "crowd with own"),
        TableColumn("Ours", number=False, cell=itemgetter("variant")),
    )
    experts, others, every = (len(_select_judgements(judged, by)) for by in TAUS)
    heading = (
        f"{experts:,} ratings by experts, {every:,} pairs judged by the crowd, {every - others:,} of them of an image "
        "and its own sentence"
    )
    return Sheet.from_rows(heading, columns, rows.to_dict("records"))


def _recall_sheet(rows: pd.DataFrame, judged: pd.DataFrame) -> Sheet:
    recalls = (one for recall in RECALLS_OF_CROWD for one in recall.printed_with_interval(f"95% of {recall.header}"))
    ours = [row for row in rows.to_dict("records") if pd.notna(row[next(iter(RECALLS_OF_CROWD)).name])]
    enough = ((judged["by"] == "crowd") & (judged["rating"] >= SHARE_OF_YES)).sum()
    heading = f"Retrieval, with {enough:,} pairs that the crowd calls right as right answers too"
    return Sheet.from_rows(heading, (METHOD, *recalls), ours)


def _columns(by: str, group: str, short: str) -> list[TableColumn]:
    """The columns of one list of judgements: of scores, then of centred scores."""
    tau, centred = f"tau-{TAUS[by]}", f"{by}_centred"
    return [
        TableColumn(tau, group, short, cell=number_cell(by)),
        TableColumn("95%", group, cell=range_cell(by)),
        TableColumn(f"{tau}, centred", group, short, cell=number_cell(centred)),
        TableColumn("95%, centred", group, cell=range_cell(centred)),
    ]
