"""Writes the answers of a search as a page of text and as a page with pictures."""

from collections.abc import Mapping
from html import escape
from pathlib import Path

import pandas as pd

from densevse.analyses.searches.own import describe_counts
from densevse.analyses.searches.schemas import FOUND
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report.footnotes import adopted_note
from densevse.report.pictures import Picture, picture_element, pictures
from densevse.report.rendering import Document, Sheet, TableColumn, page
from snakeproof import schema
from snakeproof.files import write_text

_STYLE = (
    "body{overflow-wrap:anywhere}section{margin-bottom:2em}ol{padding:0;list-style:none}li{max-width:46em}img{max-width:240px;vertical-align:top}"
    ".images ol{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:1em}"
    ".score{color:#666;font-variant-numeric:tabular-nums}"
)


def write_search_pages(
    found: str,
    image_table: str,
    sources: Mapping[str, str],
    asked: str,
    title: str,
    shown: int,
    markdown: str,
    html: str,
) -> None:
    """The job that writes the first `shown` queries of a FOUND artifact with their answers, on pages of two forms.

    The page of HTML has pictures. `image_table` is that of the queries or answers, `sources` are its files by
    name; `asked` says whether the queries are sentences or photographs.
    """
    rows = schema.read(found, FOUND)
    queries = [group for _, group in rows[rows["query"] < shown].groupby("query")]
    more = rows["query"].nunique() - len(queries)
    notes = [f"{more} more queries are in {Path(found).name}."] if more else []
    stated = schema.check(image_table, IMAGES).found
    left_out = stated.get("left_out")
    notes += [f"Left out, as these kinds of files cannot be read: {describe_counts(left_out)}."] if left_out else []
    notes += [*stated.get("notes", []), *adopted_note(schema.check(found, FOUND))]
    write_text(_markdown(queries, asked, title, notes), markdown)
    picture = pictures(image_table, sources)
    sections = [_section(answers, asked, picture) for answers in queries]
    write_text(page(title, _STYLE, [*sections, *(f"<p>{escape(note)}</p>" for note in notes)]), html)


def _markdown(queries: list[pd.DataFrame], asked: str, title: str, notes: list[str]) -> str:
    answer, header = ("image_id", "image") if asked == "sentences" else ("text", "sentence")
    columns = (TableColumn("rank"), TableColumn("score"), TableColumn(header, number=False))
    sheets = []
    for answers in queries:
        cells = zip(answers["rank"].astype(str), answers["score"].map("{:.3f}".format), answers[answer], strict=True)
        sheets.append(Sheet(_heading(answers, asked), columns, [list(row) for row in cells]))
    return Document(title, sheets, notes).markdown()


def _section(answers: pd.DataFrame, asked: str, picture: Picture) -> str:
    """A query with its answers: images below a sentence, or sentences beside an image."""
    if asked == "sentences":
        kind, asking = "images", ""
        above = [f"{picture_element(name, picture)}<br>" for name in answers["image_id"]]
        found = answers["image_id"].map(escape)
    else:
        kind, asking = "sentences", picture_element(answers["image_id"].iloc[0], picture)
        above, found = [""] * len(answers), answers["text"].map(escape)
    items = "\n".join(
        f'<li>{shown}{rank}. {answer} <span class="score">score {score:.3f}</span></li>'
        for shown, rank, answer, score in zip(above, answers["rank"], found, answers["score"], strict=True)
    )
    heading = escape(_heading(answers, asked))
    return f'<section class="{kind}"><h2>{heading}</h2>\n{asking}<ol>\n{items}\n</ol></section>'


def _heading(answers: pd.DataFrame, asked: str) -> str:
    """The query; for a sentence, with its unknown words."""
    first = answers.iloc[0]
    if asked == "photographs":
        return str(first["image_id"])
    unknown = ", ".join(first["unknown_words"])
    return f"{first['text']}{f' (words that the model does not know: {unknown})' if unknown else ''}"
