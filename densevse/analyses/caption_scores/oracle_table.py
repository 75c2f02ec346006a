"""Tables of sentences that were written or chosen with oracles, and of means over resplits, from CAPTION_SCORES."""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from densevse.analyses.caption_scores.settings import CaptionOracleMeansPlan, CaptionOraclePlan, OracleRow
from densevse.analyses.caption_scores.table import check_images, difference_cell, drawn_metrics
from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.captions import CAPTION_SCORES, OTHER_REFERENCES
from densevse.report.footnotes import INTERVAL, describe_resplits, settings_digest
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds, number, number_cell, range_cell
from densevse.report.results import Outputs, write_table
from densevse.statistics.bootstrap import TOO_FEW
from densevse.statistics.intervals import Replicates, SumBootstrap, interval_over_resplits
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, REALS, TEXT, TEXTS, Column, Schema
from snakeproof.statements import read_statement
from snakeproof.strict import validate

DIFFERENCES = ("gain", "lead")
"""The columns that compare a row with another one."""

_INTERVALS = ("bleu_4", "cider", *DIFFERENCES)
"""The columns with 95% intervals, percent."""

_ROW = (
    Column("writer", TEXT, "the name of what wrote the sentences, as in generated_captions/"),
    Column("method", TEXT, "its title"),
    Column("known", TEXT, "the part of the first sentence that it is told"),
    Column("selection", TEXT, "the way in which one of its sentences is chosen"),
    Column("bleu_4", REAL, "BLEU-4, percent"),
    Column("cider", REAL, "CIDEr, percent"),
    Column("gain", REAL, "CIDEr less that of the generator without an oracle, percent", nullable=True),
    Column("lead", REAL, "CIDEr less that of the reference, told and chosen alike, percent", nullable=True),
)


def _limits(names: Iterable[str]) -> tuple[Column, ...]:
    return tuple(
        Column(f"{name}_{end}", REAL, f"{end} end of its 95% interval", nullable=True)
        for name in names
        for end in ("low", "high")
    )


CAPTION_ORACLES = Schema(
    "caption oracles",
    "a row of a table of caption oracles: sentences scored by an image's sentences without its first",
    (
        *_ROW,
        *_limits(_INTERVALS),
        Column("new", REAL, "sentences that are not in training word for word, percent"),
        Column("length", REAL, "words of a sentence, mean"),
        Column("seeds", NUMBER, "how many seeds"),
    ),
)
CAPTION_ORACLE_MEANS = Schema(
    "means of caption oracles",
    "a row of a table of caption oracles, as a mean over resplits of a data set",
    (
        *_ROW,
        *_limits(DIFFERENCES),
        Column("resplits", TEXTS, "the resplits"),
        Column("gains", REALS, "the gain of each resplit; none where there is no gain"),
        Column("leads", REALS, "the lead of each resplit; none where there is no lead"),
        Column("seeds", NUMBER, "how many seeds each resplit has"),
    ),
)

_WRITTEN = tuple(
    TableColumn(header, number=False, cell=itemgetter(name))
    for header, name in (("Writer", "method"), ("Known", "known"), ("Selection", "selection"))
)
_BLEU, _CIDER = (
    TableColumn(header, best="highest", cell=number_cell(name))
    for header, name in (("BLEU-4", "bleu_4"), ("CIDEr", "cider"))
)
_COLUMNS = (
    *_WRITTEN,
    _BLEU,
    TableColumn("95%", cell=range_cell("bleu_4")),
    _CIDER,
    TableColumn("95%", cell=range_cell("cider")),
    TableColumn("Gain", cell=difference_cell("gain")),
    TableColumn("Lead", cell=difference_cell("lead")),
    TableColumn("New", cell=number_cell("new")),
    TableColumn("Length", cell=number_cell("length")),
)
_MEAN_COLUMNS = (
    *_WRITTEN,
    _BLEU,
    _CIDER,
    TableColumn("Gain", cell=difference_cell("gain")),
    TableColumn("Each resplit", cell=lambda row: _each(row["gains"])),
    TableColumn("Lead", cell=difference_cell("lead")),
    TableColumn("Each resplit", cell=lambda row: _each(row["leads"])),
)
_SAME = ("writer", "method", "known", "selection", "seeds")
"""The columns that are the same on all resplits."""

_NEW = (
    "New, in percent: sentences that do not occur word for word in training. Length: words in a sentence.",
    "95% intervals: a bootstrap over the images (in families, where there are such), paired for gains and leads; with "
    f"several seeds also over these. {TOO_FEW}",
)


def make_oracle_table(scores: Sequence[str], plan: Mapping[str, Any], **outputs: str) -> None:
    """The job that makes the table of a data set from CAPTION_SCORES artifacts, in any order.

    `plan` is a `CaptionOraclePlan`, and `outputs` are `Outputs`. Raises `InputError` if an artifact is missing.
    """
    planned = validate(CaptionOraclePlan, plan, "the plan of the table")
    frame = _rows(ArtifactIndex(scores, CAPTION_SCORES), planned)
    sheet = Sheet.from_rows("", _COLUMNS, frame.to_dict("records"))
    made = _notes_on_making(scores, planned.rows, f"{planned.dataset}_caption_oracles")
    notes = [*_notes_on_rows(planned), *_NEW, *made]
    write_table(frame, CAPTION_ORACLES, Document(planned.title, [sheet], notes), Outputs(**outputs))


def make_oracle_means(scores: Sequence[str], plan: Mapping[str, Any], **outputs: str) -> None:
    """The job that makes the table of means from the CAPTION_SCORES artifacts of all resplits, in any order.

    `plan` is a `CaptionOracleMeansPlan`, and `outputs` are `Outputs`. Raises `InputError` if an artifact is missing.
    """
    planned = validate(CaptionOracleMeansPlan, plan, "the plan of the table")
    index = ArtifactIndex(scores, CAPTION_SCORES)
    found = pd.concat([_rows(index, each).assign(resplit=each.dataset) for each in planned.resplits])
    of_writers = found.groupby("writer", sort=False)
    frame = pd.DataFrame([_mean_record(rows, planned.test / planned.train) for _, rows in of_writers])
    frame = frame[[column.name for column in CAPTION_ORACLE_MEANS.columns]]
    heading = describe_resplits(planned.train, [planned.test] * len(planned.resplits)).capitalize()
    sheet = Sheet.from_rows(heading, _MEAN_COLUMNS, frame.to_dict("records"))
    document = Document(planned.title, [sheet], _notes_on_means(planned, scores))
    write_table(frame, CAPTION_ORACLE_MEANS, document, Outputs(**outputs))


def _rows(index: ArtifactIndex, plan: CaptionOraclePlan) -> pd.DataFrame:
    """The rows of CAPTION_ORACLES, in the plan's order. Raises `InputError` if an artifact is missing."""
    runs = {row.writer: [_run(index, plan, row, seed) for seed in row.seeds] for row in plan.rows}
    check_images([run for some in runs.values() for run in some])
    bootstrap = SumBootstrap(next(iter(runs.values()))[0]["family"])
    found = {name: bootstrap.replicates(some, drawn_metrics) for name, some in runs.items()}
    frame = pd.DataFrame([_record(row, bootstrap, found) for row in plan.rows])
    return frame.reindex(columns=[column.name for column in CAPTION_ORACLES.columns])


def _notes_on_rows(plan: CaptionOraclePlan) -> list[str]:
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


def _notes_on_making(scores: Iterable[str], rows: Iterable[OracleRow], table: str) -> list[str]:
    """The seeds of the generators, the digest of the settings of the scores, and the command that makes the table."""
    seeds = dict.fromkeys(named_seeds(row.seeds) for row in rows if row.known)
    return [
        f"Generators: {', '.join(seeds)}. Config {settings_digest([*map(read_statement, scores)])}.",
        f"Made again by: `snakemake results/tables/{table}.md`.",
    ]


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


def _mean_record(rows: pd.DataFrame, test_to_train: float) -> dict[str, Any]:
    """A row of CAPTION_ORACLE_MEANS, from that of each resplit."""
    record: dict[str, Any] = {name: rows.iloc[0][name] for name in _SAME}
    record |= {name: float(rows[name].mean()) for name in ("bleu_4", "cider")}
    record["resplits"] = rows["resplit"].tolist()
    for name in DIFFERENCES:
        each = rows[name].dropna().tolist()
        low, high = interval_over_resplits(each, test_to_train) if each else (np.nan, np.nan)
        record |= {name: np.mean(each) if each else np.nan, f"{name}_low": low, f"{name}_high": high, f"{name}s": each}
    return record


def _notes_on_means(plan: CaptionOracleMeansPlan, scores: Iterable[str]) -> list[str]:
    first = plan.resplits[0]
    return [
        *_notes_on_rows(first),
        "Rows that not all resplits have are left out.",
        f"Gains and leads are means over resplits. In brackets: the 95% interval of a mean. {INTERVAL}",
        *_notes_on_making(scores, first.rows, f"{plan.dataset}_resplits_caption_oracles"),
    ]


def _each(differences: Sequence[float]) -> str:
    return ", ".join(number(value, sign="+") for value in differences)
