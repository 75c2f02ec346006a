"""Example retrievals: images with their best sentences, sentences with their best images, right ones marked."""

from collections.abc import Callable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.drawing import draw_picture
from densevse.report.pictures import Pixels, pictures
from densevse.report.saving import QUIET, RIGHT_COLOUR, WRONG_COLOUR, save
from densevse.report.texts import shortened
from densevse.runtime.spacing import evenly_spaced

_QUERIES, _ANSWERS = 4, 5


def example_retrievals(
    retrieval: str, images: str, captions: str, sources: dict[str, str], title: str, path: str
) -> None:
    """Draw queries, evenly spaced in the first fold of a RETRIEVAL artifact, with their five best answers.

    `images` and `captions` are the data set's tables, `sources` its files by source name.
    """
    rows = schema.read(retrieval, RETRIEVAL)
    rows = rows[rows["fold"] == 0]
    texts = schema.read(captions, CAPTIONS).set_index("caption_id")["text"]
    picture = pictures(images, sources)
    figure = Figure(figsize=(12, 4.4 * _QUERIES), layout="constrained")
    figure.suptitle(title)
    upper, lower = figure.subfigures(2, 1, squeeze=False)[:, 0]
    _draw_i2t(upper, spaced(rows[rows["direction"] == "i2t"]), picture, texts)
    _draw_t2i(lower, spaced(rows[rows["direction"] == "t2i"]), picture, texts)
    save(figure, path)


def spaced(rows: pd.DataFrame) -> pd.DataFrame:
    """Some rows, evenly spaced."""
    return rows.iloc[evenly_spaced(len(rows), _QUERIES)]


def _draw_i2t(figure: SubFigure, rows: pd.DataFrame, picture: Callable[[str], Pixels], texts: Any) -> None:
    figure.suptitle("Image annotation: an image and its best sentences", x=0.01, ha="left", fontsize=11)
    axes = figure.subplots(len(rows), 2, squeeze=False, width_ratios=(1, 3))
    for (left, right), (_, row) in zip(axes, rows.iterrows(), strict=True):
        show(left, picture(str(row["query_id"])), QUIET)
        left.set_xlabel(_rank(row), fontsize=9)
        right.axis("off")
        for number, (caption, true) in enumerate(zip(row["top"][:_ANSWERS], row["top_true"], strict=False)):
            text = shortened(f"{number + 1}. {texts[caption]}", 100) + (" (right)" if true else "")
            place = 0.9 - number / _ANSWERS
            right.text(
                0, place, text, color=RIGHT_COLOUR if true else WRONG_COLOUR, fontsize=10, va="center", parse_math=False
            )


def _draw_t2i(figure: SubFigure, rows: pd.DataFrame, picture: Callable[[str], Pixels], texts: Any) -> None:
    figure.suptitle("Image search: a sentence and its best images", x=0.01, ha="left", fontsize=11)
    lines = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
    for line, (_, row) in zip(lines, rows.iterrows(), strict=True):
        text = f"{shortened(texts[row['query_id']], 110)}  ({_rank(row)})"
        line.suptitle(text, x=0.01, ha="left", fontsize=10, parse_math=False)
        places = line.subplots(1, _ANSWERS)
        for place in places[len(row["top"]) :]:
            place.axis("off")
        for place, image, true in zip(places, row["top"], row["top_true"], strict=False):
            show(place, picture(image), RIGHT_COLOUR if true else WRONG_COLOUR)
            place.set_xlabel("right" if true else "", color=RIGHT_COLOUR, fontsize=9)


def show(axes: Axes, pixels: Pixels, color: str) -> None:
    """Draw a picture with a border of that colour."""
    draw_picture(axes, pixels)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(color=color, linewidth=3)


def _rank(row: pd.Series) -> str:
    return f"first right answer: rank {row['rank']:,} of {row['candidates']:,}"
