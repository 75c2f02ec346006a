"""A table of sentences that were written or chosen with oracles, from CAPTION_SCORES."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from densevse.analyses.caption_scores.plan import CaptionOraclePlan, OracleRow
from densevse.analyses.caption_scores.schemas import CAPTION_ORACLES
from densevse.analyses.caption_scores.table import check_images, drawn_metrics
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.captions import CAPTION_SCORES, OTHER_REFERENCES
from densevse.config.strict import Strict
from densevse.statistics.bootstrap import TOO_FEW
from densevse.statistics.intervals import Replicates, SumBootstrap
from densevse.tables.footnotes import digest_of
from densevse.tables.rendering import Document, Sheet, TableColumn, named_seeds, number, number_range
from densevse.tables.results import Outputs, write_table

WRITTEN = tuple(TableColumn(header, number=False) for header in ("Writer", "Known", "Selection"))
_COLUMNS = (
    *WRITTEN,
    TableColumn("BLEU-4", best="highest"),
    TableColumn("95%"),
    TableColumn("CIDEr", best="highest"),
    *(TableColumn(header) for header in ("95%", "Gain", "Lead", "New", "Length")),
)
_NEW = (
    "New, in percent: sentences that do not occur word for word in training. Length: words in a sentence.",
    "95% intervals: a bootstrap over the images (in families, where there are such), paired for gains and leads; with "
    f"several seeds also over these. {TOO_FEW}",
)


def make_oracle_table(scores: Sequence[str], plan: CaptionOraclePlan, outputs: Outputs) -> None:
    """Makes the table from CAPTION_SCORES artifacts, in any order. Raises `InputError` if one is missing."""
    frame = oracle_rows(ArtifactIndex(scores, CAPTION_SCORES), plan)
    sheet = Sheet("", _COLUMNS, [_cells(row) for _, row in frame.iterrows()])
    made = notes_on_making(plan, plan.rows, f"{plan.dataset}_caption_oracles")
    notes = [*notes_on_rows(plan), *_NEW, *made]
    write_table(frame, CAPTION_ORACLES, Document(plan.title, [sheet], notes), plan, outputs)


def oracle_rows(index: ArtifactIndex, plan: CaptionOraclePlan) -> pd.DataFrame:
    """The rows of CAPTION_ORACLES, in the plan's order. Raises `InputError` if an artifact is missing."""
    runs = {row.writer: [_run(index, plan, row, seed) for seed in row.seeds] for row in plan.rows}
    check_images([run for some in runs.values() for run in some])
    bootstrap = SumBootstrap(next(iter(runs.values()))[0]["family"])
    found = {name: bootstrap.replicates(some, drawn_metrics) for name, some in runs.items()}
    frame = pd.DataFrame([_record(row, bootstrap, found) for row in plan.rows])
    return frame.reindex(columns=[column.name for column in CAPTION_ORACLES.columns])


def notes_on_rows(plan: CaptionOraclePlan) -> list[str]:
    """Explains the columns that tables of oracles and of their means share."""
    return [
        "All rows are scored by the same references: an image's sentences without its first, which is the oracle's and "
        "the person's.",
        "Known: the part of the first sentence that the generator is told. Tags: its part-of-speech tags, in place of "
        "the sequences of training. Content: its vector in the joint space, in place of the image's, in writing and in "
        "s(x, v).",
        "Selection: the score by which one sentence is chosen among those that were written. Without structure the two "
        "likelihoods are the same. Best CIDEr: by CIDEr against the first sentence alone, among the "
        f"{plan.sentences} sentences with the highest s(x, v) and n-gram score.",
        "Gain: CIDEr minus that of the same generator without an oracle, chosen by s(x, v) and the n-gram model. Lead: "
        f"CIDEr minus that of {plan.reference}, told and chosen alike; for copied sentences and a person, without an "
        "oracle.",
        "BLEU-4 (with the brevity penalty) and CIDEr by pycocoevalcap, in percent.",
    ]


def notes_on_making(plan: Strict, rows: Iterable[OracleRow], table: str) -> list[str]:
    """The seeds of the generators, the digest of the table's plan, and the command that makes the table."""
    seeds = dict.fromkeys(named_seeds(row.seeds) for row in rows if row.known)
    return [
        f"Generators: {', '.join(seeds)}. Config {digest_of(plan)}.",
        f"Made again by: `snakemake results/tables/{table}.md`.",
    ]


def difference_cell(row: pd.Series, name: str) -> str:
    """A gain or a lead with its interval; empty if the row has none."""
    return "" if pd.isna(row[name]) else f"{number(row[name], sign='+')} ({_range(row, name, '+')})"


def _run(index: ArtifactIndex, plan: CaptionOraclePlan, row: OracleRow, seed: int) -> pd.DataFrame:
    path = index.path(Identity(plan.dataset, row.writer, seed, split=plan.split))
    scores = schema.read(path, CAPTION_SCORES)
    return scores[scores["references"] == OTHER_REFERENCES].reset_index(drop=True)


def _record(row: OracleRow, bootstrap: SumBootstrap, found: Mapping[str, Replicates]) -> dict[str, Any]:
    """A row of CAPTION_ORACLES."""
    own = found[row.writer]
    record: dict[str, Any] = {
        "writer": row.writer,
        "method": row.title,
        "known": row.known,
        "selection": row.selection,
        "seeds": len(row.seeds),
        **{name: float(own.by_seed[name].mean()) for name in ("bleu_4", "cider", "new", "length")},
    }
    intervals = {name: bootstrap.interval(name, own) for name in ("bleu_4", "cider")}
    for name, other in (("gain", row.without_oracle), ("lead", row.beside)):
        if other is not None:
            record[name] = record["cider"] - float(found[other].by_seed["cider"].mean())
            intervals[name] = bootstrap.difference("cider", own, found[other])
    for name, interval in intervals.items():
        record |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return record


def _cells(row: pd.Series) -> list[str]:
    return [
        row["method"],
        row["known"],
        row["selection"],
        number(row["bleu_4"]),
        _range(row, "bleu_4"),
        number(row["cider"]),
        _range(row, "cider"),
        difference_cell(row, "gain"),
        difference_cell(row, "lead"),
        number(row["new"]),
        number(row["length"]),
    ]


def _range(row: pd.Series, name: str, sign: str = "") -> str:
    return number_range((row[f"{name}_low"], row[f"{name}_high"]), sign=sign)
