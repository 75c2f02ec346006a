"""A table of people's votes on learned correspondences (HM-LSTM, section 5.3.2: 82% by a majority of ten users).

It also has the share of the same pairs that true boxes confirm, if these are known.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from densevse.analyses.votes.ballot import BALLOT, VOTES
from densevse.analyses.votes.settings import VoteTablePlan
from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.artifacts.families import read_families
from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.phrase_boxes import PHRASE, RIGHT_OVERLAP, TRUE_BOX, true_boxes_of_phrases
from densevse.artifacts.schemas.datasets import BOXES
from densevse.report.columns import METHOD
from densevse.report.published import any_text, read_rows, real_number, required_text, whole_number
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds, number_cell, range_cell
from densevse.report.results import Outputs, write_table
from densevse.statistics.bootstrap import TOO_FEW, interval_of_mean
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.strict import validate

VOTE_SHARES = Schema(
    "vote_shares",
    "a row of a table of votes on learned correspondences",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("source", TEXT, "paper of a published row; the seed of a measured one"),
        Column("variant", TEXT, "the variant in config/methods; empty for a published row"),
        *(
            Column(f"{metric}{end}", REAL, f"{meaning}, percent{of}", nullable=True)
            for metric, meaning in (
                ("correct", "share of the pairs with votes that more voters call correct than not"),
                ("exact", "share of those with a true box that their box overlaps by at least 0.5"),
            )
            for end, of in (
                ("", ""),
                ("_low", "; low end of the 95% interval"),
                ("_high", "; high end of the 95% interval"),
            )
        ),
        Column("exact_pairs", NUMBER, "pairs with votes whose phrase has a true box", nullable=True),
        Column("pairs", NUMBER, "pairs with votes"),
        Column("fewest_voters", NUMBER, "voters of the pair that has the fewest, among those with votes"),
        Column("most_voters", NUMBER, "voters of the pair that has the most"),
        Column("ties", NUMBER, "pairs with as many votes for as against, which count as not correct", nullable=True),
        Column("without_votes", NUMBER, "pairs of the ballot without votes, which are left out", nullable=True),
        Column("note", TEXT, "what is special about a published row; mostly empty"),
    ),
)

PUBLISHED_VOTES = {
    "method": required_text,
    "source": any_text,
    "correct": real_number,
    "pairs": whole_number,
    "voters": whole_number,
    "note": any_text,
}
"""The columns of published/<paper>.csv."""

COUNTS = ["exact_pairs", "pairs", "fewest_voters", "most_voters", "ties", "without_votes"]
_NOTES = [
    "Correct: the share (%) of pairs of a phrase and a region that more voters call correct than not. A tie is not "
    "correct. Pairs without votes are left out.",
    "Exact: of the pairs with votes whose phrase has a true box, the share (%) whose region overlaps one by at least "
    "0.5.",
    f"Intervals hold 95% of a bootstrap over families of images, each with its pairs. {TOO_FEW} They cover the draw "
    "of pairs, but neither other voters nor another training.",
]


def make_vote_table(
    plan: Mapping[str, Any],
    ballots: Sequence[str],
    votes: Sequence[str],
    image_table: str,
    published: str,
    boxes: str | None = None,
    **outputs: str,
) -> None:
    """The job that makes the table from the BALLOT of each variant and the VOTES on it, both in any order.

    `plan` is a `VoteTablePlan`, `published` a CSV of published/, and `outputs` are `Outputs`. There are `boxes` if
    phrases have true boxes. Raises `InputError` if a variant's ballot or votes are missing.
    """
    planned = validate(VoteTablePlan, plan, "the plan of the table")
    true, families = None if boxes is None else schema.read(boxes, BOXES), read_families(image_table)
    drawn, cast = ArtifactIndex(ballots, BALLOT), ArtifactIndex(votes, VOTES)
    records = []
    for row in read_rows(published, PUBLISHED_VOTES):
        voters = row.pop("voters")
        records.append({**row, "variant": "", "fewest_voters": voters, "most_voters": voters})
    for variant, title in planned.measured.items():
        identity = Identity(planned.dataset, variant)
        ballot, found = schema.read(drawn.path(identity), BALLOT), schema.read(cast.path(identity), VOTES)
        named = {"method": title, "source": named_seeds([planned.seed]), "variant": variant, "note": ""}
        records.append(named | shares(ballot, found, true, families))
    columns = [column.name for column in VOTE_SHARES.columns]
    rows = pd.DataFrame(records, columns=columns).astype(dict.fromkeys(COUNTS, "Int32"))
    notes = [*_NOTES, *(f"{row['source']}: {row['note']}." for row in records if row["note"])]
    document = Document(f"{planned.title}: votes on learned correspondences", [_sheet(rows)], notes)
    write_table(rows, VOTE_SHARES, document, Outputs(**outputs))


def shares(ballot: pd.DataFrame, votes: pd.DataFrame, true: pd.DataFrame | None, families: pd.Series) -> dict[str, Any]:
    """The metrics of a VOTE_SHARES row.

    `ballot` holds BALLOT rows, `votes` VOTES rows on it, `true` BOXES rows. Intervals draw over `families`, given by
    image.
    """
    counts = votes.groupby("pair")["correct"].agg(["sum", "size"]).reindex(ballot["pair"])
    has_votes = counts["size"].notna().to_numpy()
    judged, counts = ballot[has_votes], counts[has_votes]
    correct = (2 * counts["sum"] > counts["size"]).to_numpy(float)
    family = families.reindex(judged["image_id"]).to_numpy()
    exact = np.full(len(judged), np.nan) if true is None else exact_hits(judged, true)
    known = ~np.isnan(exact)
    return {
        **_percent("correct", correct, family),
        **_percent("exact", exact[known], family[known]),
        "exact_pairs": int(known.sum()),
        "pairs": len(judged),
        "fewest_voters": int(counts["size"].min()),
        "most_voters": int(counts["size"].max()),
        "ties": int((2 * counts["sum"] == counts["size"]).sum()),
        "without_votes": int((~has_votes).sum()),
    }


def exact_hits(ballot: pd.DataFrame, true: pd.DataFrame) -> np.ndarray[Any, Any]:
    """1 or 0 for each pair: whether its box overlaps a true box of its phrase by at least half; NaN without any."""
    both = ballot[["pair", *PHRASE, *BOX]].merge(true_boxes_of_phrases(true), on=PHRASE)
    both["overlap"] = intersection_over_union(both[BOX].to_numpy(float), both[TRUE_BOX].to_numpy(float))
    best = both.groupby("pair")["overlap"].max().reindex(ballot["pair"])
    return (best >= RIGHT_OVERLAP).astype(float).where(best.notna()).to_numpy()


def _percent(metric: str, right: np.ndarray[Any, Any], family: np.ndarray[Any, Any]) -> dict[str, float | None]:
    """A share in percent with its interval; empty without pairs."""
    names = (metric, f"{metric}_low", f"{metric}_high")
    if not len(right):
        return dict.fromkeys(names)
    values = (right.mean(), *interval_of_mean(right, family))
    return {name: 100 * value for name, value in zip(names, values, strict=True)}


def _sheet(rows: pd.DataFrame) -> Sheet:
    columns = (
        METHOD,
        TableColumn("Source", number=False, cell=itemgetter("source")),
        TableColumn("correct", "Votes", "votes", cell=number_cell("correct")),
        TableColumn("95%", "Votes", cell=range_cell("correct")),
        TableColumn("pairs", "Votes", cell=lambda row: _count(row["pairs"])),
        TableColumn("voters for each", "Votes", cell=_voters),
        TableColumn("ties", "Votes", cell=lambda row: _count(row["ties"])),
        TableColumn("without votes", "Votes", cell=lambda row: _count(row["without_votes"])),
        TableColumn("correct", "Exact", "exact", cell=number_cell("exact")),
        TableColumn("95%", "Exact", cell=range_cell("exact")),
        TableColumn("pairs", "Exact", cell=lambda row: _count(row["exact_pairs"])),
        TableColumn("Ours", number=False, cell=itemgetter("variant")),
    )
    return Sheet.from_rows("", columns, rows.to_dict("records"))


def _voters(row: Mapping[str, Any]) -> str:
    fewest, most = row["fewest_voters"], row["most_voters"]
    return _count(most) if fewest == most else f"{fewest} to {most}"


def _count(value: Any) -> str:
    return "" if pd.isna(value) else f"{value:,}"
