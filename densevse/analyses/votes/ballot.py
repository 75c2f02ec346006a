"""Ballots of learned correspondences, and people's votes on them (HM-LSTM, section 5.3.2).

The paper draws 2,000 pairs of a phrase and a region from all learned correspondences of the training data, and users
judge whether each pair is correct. A pair's name contains a digest of what people see. After another training the same
phrase may have another box, and votes on the old pair must not count for the new one. People answer in a CSV file:

    pair,voter,correct
    1-7c21f09b,Anna,yes
    1-7c21f09b,Ben,no
"""

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from densevse.artifacts.boxes import BOX
from densevse.artifacts.columns import BOX_COLUMNS, CAPTION_ID, IMAGE_ID
from densevse.artifacts.phrase_boxes import PHRASE
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import CORRESPONDENCES
from densevse.artifacts.schemas.sentences import PARSES
from densevse.artifacts.texts import numbered_lines
from densevse.report.pictures import Picture, picture_element, pictures
from densevse.report.rendering import page
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import write_text
from snakeproof.logs import logger
from snakeproof.schema import NUMBER, TEXT, TEXTS, Column, Schema

_PAIR = Column("pair", TEXT, "its number on the ballot, from 1, and a digest of image, caption, phrase and box")

BALLOT = Schema(
    "ballot",
    "a learned correspondence that people are asked to judge, in the order drawn",
    (
        _PAIR,
        IMAGE_ID,
        CAPTION_ID,
        Column("tokens", TEXTS, "the caption's tokens, as the parser wrote them"),
        Column("phrase", TEXT, "the phrase's words"),
        Column("start", NUMBER, "index of its first token in the caption"),
        Column("end", NUMBER, "index after its last token"),
        *BOX_COLUMNS,
    ),
)

VOTES = Schema(
    "votes",
    "a person's vote on a pair of a ballot",
    (
        _PAIR,
        Column("voter", TEXT, "the person's name, as the file of votes has it"),
        Column("correct", pa.bool_(), "whether the person calls the correspondence correct"),
    ),
)

_SHOWN = ["image_id", *PHRASE, *BOX]
_COLUMNS = [column.name for column in VOTES.columns]
_ANSWERS = {"yes": True, "no": False}
_SIDE = 320  # pixels of a picture's longer side
_STYLE = (
    "section{display:inline-block;width:340px;margin:0 1em 2em 0;vertical-align:top;overflow-wrap:anywhere}"
    ".picture{display:inline-block;position:relative}.picture img{display:block}"
    ".box{position:absolute;box-sizing:border-box;border:3px solid #e8710a;outline:1px solid #fff}"
    "mark{background:#fbe0c8}"
)
QUESTION = (
    "Does the box show what the marked phrase means? Write yes or no for each pair into the column correct of a copy "
    "of {sheet}, and your name into the column voter. Leave out lines without an answer."
)


def draw_ballot(correspondences: str, parses: Sequence[str], output: str, pairs: int, seed: int) -> None:
    """The job that draws a variant's BALLOT from a CORRESPONDENCES artifact.

    `parses` are the shards of the sentences' PARSES. Raises `InputError` as `draw_pairs` does.
    """
    learned = schema.read(correspondences, CORRESPONDENCES)
    sentences = schema.read_all(parses, PARSES, ["caption_id", "tokens"])
    rows = draw_pairs(learned, pairs, seed).merge(sentences, on="caption_id", how="left", validate="many_to_one")
    logger.info("%d pairs, drawn from %d", len(rows), len(learned))
    schema.write(rows, BALLOT, output)


def draw_pairs(learned: pd.DataFrame, pairs: int, seed: int) -> pd.DataFrame:
    """BALLOT rows without tokens: a number of random CORRESPONDENCES rows, or all if there are fewer.

    With the same seed a smaller ballot is the beginning of a larger one. Raises `InputError` if there are none.
    """
    if learned.empty:
        raise InputError("no correspondences were learned, so there are none to judge.")
    chosen = np.random.default_rng(seed).permutation(len(learned))[:pairs]
    drawn = learned.iloc[chosen][["phrase", *_SHOWN]].reset_index(drop=True)
    return drawn.assign(
        pair=[_pair_name(number, shown) for number, shown in enumerate(drawn[_SHOWN].values.tolist(), 1)]
    )


def _pair_name(number: int, shown: list[str | int | float]) -> str:
    return f"{number}-{hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:8]}"


def write_ballot_page(
    ballot: str,
    image_table: str,
    sources: Mapping[str, str],
    title: str,
    html: str,
    sheet: str,
) -> None:
    """The job that writes a BALLOT artifact as HTML, and the sheet for votes on it as CSV.

    `sources` are the files, by name, of the data set, whose image table is given.
    """
    sizes = schema.read(image_table, IMAGES).set_index("image_id")[["width", "height"]].add_prefix("image_")
    rows = schema.read(ballot, BALLOT).join(sizes, on="image_id")
    picture = pictures(image_table, sources, _SIDE)
    question = escape(QUESTION.format(sheet=Path(sheet).name))
    pairs = (_section(row, picture) for row in rows.to_dict("records"))
    write_text(page(title, _STYLE, [f"<p>{question}</p>", *pairs]), html)
    lines = pd.DataFrame({"pair": rows["pair"]}, columns=_COLUMNS)
    write_text(lines.to_csv(index=False, lineterminator="\n"), sheet)


def _section(row: dict[Any, Any], picture: Picture) -> str:
    return (
        f"<section><h2>{row['pair']}</h2>\n"
        f'<div class="picture">{picture_element(row["image_id"], picture)}{_box(row)}</div>\n'
        f"<p>{_sentence(list(row['tokens']), row['start'], row['end'])}</p></section>"
    )


def _box(row: dict[Any, Any]) -> str:
    """The box in percent of the picture, so that it fits at any size."""
    left, width = (100 * row[name] / row["image_width"] for name in ("x", "width"))
    top, height = (100 * row[name] / row["image_height"] for name in ("y", "height"))
    return f'<div class="box" style="left:{left:.2f}%;top:{top:.2f}%;width:{width:.2f}%;height:{height:.2f}%"></div>'


def _sentence(tokens: list[str], start: int, end: int) -> str:
    before, phrase, after = (escape(" ".join(part)) for part in (tokens[:start], tokens[start:end], tokens[end:]))
    return f"{before} <mark>{phrase}</mark> {after}".strip()


def write_votes(text: str, ballot: str, output: str) -> None:
    """The job that reads the votes on a variant's BALLOT artifact from the file `text`, and writes them as VOTES.

    Raises `InputError` as `read_votes` does.
    """
    votes = read_votes(text, set(schema.read(ballot, BALLOT, ["pair"])["pair"]))
    logger.info("%d votes of %d people on %d pairs", len(votes), votes["voter"].nunique(), votes["pair"].nunique())
    schema.write(votes, VOTES, output)


def read_votes(text: str, pairs: set[str]) -> pd.DataFrame:
    """VOTES rows of the file `text`; `pairs` are those of the ballot.

    Raises `InputError` that names the line of an invalid vote, and for a file without votes.
    """
    numbered = numbered_lines(Path(text).read_bytes(), text, "utf-8")
    lines = [(number, _fields(line, f"{text}, line {number}")) for number, line in numbered]
    if len(lines) < 2:
        raise InputError(
            f"{text}: expected a line with {','.join(_COLUMNS)} and one line for each vote; it has no vote."
        )
    if lines[0][1] != _COLUMNS:
        raise InputError(f"{text}, line {lines[0][0]}: expected the columns {','.join(_COLUMNS)}; found {lines[0][1]}.")
    rows: dict[tuple[str, str], bool] = {}
    for number, fields in lines[1:]:
        where = f"{text}, line {number}"
        pair, voter, correct = _vote(fields, pairs, where)
        if (pair, voter) in rows:
            raise InputError(f"{where}: {voter} has voted on pair {pair} before; leave one of the two lines.")
        rows[pair, voter] = correct
    return pd.DataFrame([(*key, correct) for key, correct in rows.items()], columns=_COLUMNS)


def _fields(line: str, where: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader([line], strict=True))]
    except csv.Error as error:
        raise InputError(f"{where}: expected {','.join(_COLUMNS)}, found {line[:80]!r} ({error}).") from None


def _vote(fields: list[str], pairs: set[str], where: str) -> tuple[str, str, bool]:
    if len(fields) != len(_COLUMNS):
        raise InputError(f"{where}: expected a pair, a voter, and yes or no; found {fields}.")
    pair, voter, answer = fields
    if pair not in pairs:
        raise InputError(
            f"{where}: the ballot has no pair {pair!r}. A pair's name changes with what it shows, so votes on an "
            "earlier ballot (of other correspondences or another seed) are not counted; ask for votes on this one."
        )
    if not voter:
        raise InputError(f"{where}: the vote on pair {pair} names no voter.")
    if answer not in _ANSWERS:
        raise InputError(f"{where}: expected yes or no, found {answer!r}; leave out lines without an answer.")
    return pair, voter, _ANSWERS[answer]
