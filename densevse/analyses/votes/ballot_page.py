"""Makes a ballot's page: photographs with the pairs' boxes, sentences with phrases marked, and a sheet for votes.

HM-LSTM, section 5.3.2: users judge whether each pair of a phrase and a region is correct.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from densevse.analyses.votes.schemas import BALLOT, VOTES
from densevse.artifacts import schema
from densevse.artifacts.files import write_text
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report.pages import Picture, page, picture_element
from densevse.report.pictures import pictures

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


def ballot_page(
    ballot: str,
    image_table: str,
    sources: Sequence[str],
    source_names: Sequence[str],
    title: str,
    html: str,
    sheet: str,
) -> None:
    """The job that writes a BALLOT artifact as HTML, and the sheet for votes on it as CSV.

    `sources` are the files of the data set, whose image table is given, and have these names.
    """
    sizes = schema.read(image_table, IMAGES).set_index("image_id")[["width", "height"]].add_prefix("image_")
    rows = schema.read(ballot, BALLOT).join(sizes, on="image_id")
    picture = pictures(image_table, dict(zip(source_names, sources, strict=True)), _SIDE)
    question = escape(QUESTION.format(sheet=Path(sheet).name))
    pairs = (_section(row, picture) for row in rows.to_dict("records"))
    write_text(page(title, _STYLE, [f"<p>{question}</p>", *pairs]), html)
    lines = pd.DataFrame({"pair": rows["pair"]}, columns=[column.name for column in VOTES.columns])
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
