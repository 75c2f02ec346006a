"""Draws example retrievals: images with their best sentences, and the reverse, with right answers marked.

Two other pictures have the answers of several rows side by side: the best sentences of the same images (SCO, Fig 4),
and the best images of one sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.figures import (
    QUIET,
    RIGHT_COLOUR,
    WRONG_COLOUR,
    canvas,
    draw_picture,
    place_picture,
    save_figure,
    shorten_text,
)
from densevse.report.pictures import Pixels, pictures
from densevse.report.plan import PicturePlan
from densevse.runtime.arrays import spaced_indices
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.strict import validate

_QUERIES, _ANSWERS = 4, 5
_LEGEND = "Green: right answers. Red: wrong ones. Queries are evenly spaced in the test set, and not chosen."
_LEGEND_OF_COMPARISON = "Green and bold: sentences of the image. Grey: sentences of other images."
_LEGEND_OF_ONE_QUERY = "Green frame: the right image. The sentence is in the middle of the test set, and not chosen."
_SIDE_BY_SIDE = 3  # answers of each of several variants
_COLUMN = 1.7  # inches: the answers of one row to one query
_TOP, _ASKING, _IMAGE, _SENTENCE = 0.5, 0.4, 2.3, 2.8  # inches: a title, a heading, the line of an image, of a sentence


def draw_examples(
    retrieval: str,
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    title: str,
    output: str,
) -> None:
    """The job that draws queries, evenly spaced in the first fold of a RETRIEVAL artifact, with five best answers each.

    `sources` are the data set's files.
    """
    rows = schema.read(retrieval, RETRIEVAL)
    rows = rows[rows["fold"] == 0]
    texts = schema.read(caption_table, CAPTIONS).set_index("caption_id")["text"]
    picture = pictures(image_table, sources)
    answers = [_spaced_rows(rows[rows["direction"] == direction]) for direction in ("i2t", "t2i")]
    below = _TOP + _ASKING + _IMAGE * len(answers[0])
    figure, axes = canvas(12, below + _ASKING + _SENTENCE * len(answers[1]), title)
    _draw_i2t(axes, _TOP, answers[0], picture, texts)
    _draw_t2i(axes, below, answers[1], picture, texts)
    save_figure(figure, output, _LEGEND)


def _spaced_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Some rows, evenly spaced."""
    return rows.iloc[spaced_indices(len(rows), _QUERIES)]


def _draw_i2t(axes: Axes, top: float, rows: pd.DataFrame, picture: Callable[[str], Pixels], texts: Any) -> None:
    axes.text(0.1, top + 0.2, "Image annotation: an image and its best sentences", fontsize=11, va="center")
    for line, (_, row) in enumerate(rows.iterrows()):
        upper = top + _ASKING + _IMAGE * line
        place_picture(axes, picture(str(row["query_id"])), (0.1, upper), (_IMAGE - 0.1, _IMAGE - 0.1), QUIET)
        axes.text(_IMAGE + 0.3, upper + 0.15, _rank_text(row), fontsize=9, va="center", color=QUIET)
        for number, (caption, true) in enumerate(zip(row["top"][:_ANSWERS], row["top_true"], strict=False)):
            text = shorten_text(f"{number + 1}. {texts[caption]}", 100) + (" (right)" if true else "")
            color, height = RIGHT_COLOUR if true else WRONG_COLOUR, upper + 0.55 + 0.35 * number
            axes.text(_IMAGE + 0.3, height, text, color=color, fontsize=11, va="center", parse_math=False)


def _draw_t2i(axes: Axes, top: float, rows: pd.DataFrame, picture: Callable[[str], Pixels], texts: Any) -> None:
    axes.text(0.1, top + 0.2, "Image search: a sentence and its best images", fontsize=11, va="center")
    side = 12 / _ANSWERS
    for line, (_, row) in enumerate(rows.iterrows()):
        upper = top + _ASKING + _SENTENCE * line
        text = f"{shorten_text(texts[row['query_id']], 110)}  ({_rank_text(row)})"
        axes.text(0.1, upper + 0.1, text, fontsize=10, va="center", parse_math=False)
        for place, (image, true) in enumerate(zip(row["top"][:_ANSWERS], row["top_true"], strict=False)):
            color, corner = RIGHT_COLOUR if true else WRONG_COLOUR, (side * place + 0.1, upper + 0.3)
            place_picture(axes, picture(image), corner, (side - 0.2, side - 0.2), color)
            below = side * (place + 0.5), upper + side + 0.22
            axes.text(*below, "right" if true else "", color=color, fontsize=9, ha="center", va="center")


def _rank_text(row: pd.Series) -> str:
    return f"first right answer: rank {row['rank']:,} of {row['candidates']:,}"


def draw_comparison(
    retrievals: Sequence[str],
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    plan: Mapping[str, Any],
    output: str,
) -> None:
    """The job that draws test images, evenly spaced in the first fold, with the best sentences of several variants.

    Each has three, with right ones in bold. `retrievals` are the RETRIEVAL artifacts of `plan` (the values of a
    `PicturePlan`), in any order, all of the same images. Raises `InputError` if one is missing or has other images.
    """
    planned, found = _read_compared(retrievals, plan, "i2t")
    first = next(iter(found.values()))
    texts = schema.read(caption_table, CAPTIONS).set_index("caption_id")["text"]
    picture = pictures(image_table, sources)
    asked = _spaced_rows(first).index
    figure = Figure(figsize=(4 + 5.5 * len(found), 2.6 * len(asked) + 0.6), layout="constrained")
    figure.suptitle(planned.title, parse_math=False)
    axes = figure.subplots(len(asked), 1 + len(found), squeeze=False, width_ratios=(2, *[4] * len(found)))
    for image, line in zip(asked, axes, strict=True):
        draw_picture(line[0], picture(str(image)), QUIET)
        for place, (name, rows) in zip(line[1:], found.items(), strict=True):
            row = rows.loc[image]
            _draw_answers(
                place, name, [texts[caption] for caption in row["top"][:_SIDE_BY_SIDE]], list(row["top_true"])
            )
    save_figure(figure, output, _LEGEND_OF_COMPARISON)


def draw_one_query(
    retrievals: Sequence[str],
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    plan: Mapping[str, Any],
    output: str,
) -> None:
    """The job that draws the sentence in the middle of the test set, with the best images by several rows.

    Each row is a column of three, with the rank of the right image. Parameters and errors are as for `draw_comparison`.
    """
    planned, found = _read_compared(retrievals, plan, "t2i")
    first = next(iter(found.values()))
    query = first.index[len(first) // 2]
    texts = schema.read(caption_table, CAPTIONS).set_index("caption_id")["text"]
    picture = pictures(image_table, sources)
    figure, axes = canvas(_COLUMN * len(found), _TOP + 2 * _ASKING + _COLUMN * _SIDE_BY_SIDE, planned.title)
    sentence = shorten_text(texts[query], round(13 * _COLUMN * len(found)))
    axes.text(_COLUMN * len(found) / 2, _TOP + 0.1, sentence, fontsize=11, ha="center", va="center", parse_math=False)
    for column, (name, rows) in enumerate(found.items()):
        row, left = rows.loc[query], _COLUMN * column
        heading = f"{shorten_text(name, 22)}\nrank {row['rank']:,} of {row['candidates']:,}"
        middle = left + _COLUMN / 2, _TOP + _ASKING + 0.15
        axes.text(*middle, heading, fontsize=9, ha="center", va="center", parse_math=False)
        for place, (image, true) in enumerate(zip(row["top"][:_SIDE_BY_SIDE], row["top_true"], strict=False)):
            corner = left + 0.1, _TOP + 2 * _ASKING + _COLUMN * place
            frame = RIGHT_COLOUR if true else None
            place_picture(axes, picture(str(image)), corner, (_COLUMN - 0.2, _COLUMN - 0.2), frame)
    save_figure(figure, output, _LEGEND_OF_ONE_QUERY)


def _read_compared(
    retrievals: Sequence[str], plan: Mapping[str, Any], direction: str
) -> tuple[PicturePlan, dict[str, pd.DataFrame]]:
    """The plan, and by title the first fold of each retrieval in one direction, by its queries."""
    planned, index = validate(PicturePlan, plan, "the plan of the picture"), ArtifactIndex(retrievals, RETRIEVAL)
    files = {title: index.path(of) for title, of in planned.shown.items()}
    found = {}
    for name, file in files.items():
        rows = schema.read(file, RETRIEVAL)
        found[name] = rows[(rows["fold"] == 0) & (rows["direction"] == direction)].set_index("query_id")
    first = next(iter(found.values()))
    asked = "images" if direction == "i2t" else "sentences"
    for name, rows in found.items():
        if not rows.index.equals(first.index):
            raise InputError(f"{files[name]}: its {asked} are not those of {next(iter(files.values()))}.")
    return planned, found


def _draw_answers(axes: Axes, name: str, sentences: list[str], right: list[bool]) -> None:
    axes.axis("off")
    axes.set_title(name, loc="left", fontsize=10, parse_math=False)
    for number, (sentence, true) in enumerate(zip(sentences, right, strict=False)):
        axes.text(
            0,
            0.8 - 0.3 * number,
            shorten_text(f"{number + 1}. {sentence}", 72),
            color=RIGHT_COLOUR if true else QUIET,
            weight="bold" if true else "normal",
            fontsize=9,
            va="center",
            parse_math=False,
        )
