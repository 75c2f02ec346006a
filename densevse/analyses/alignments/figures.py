"""Draws the regions and triplets that a model aligns (DeFrag, Figures 4 and 5)."""

from collections.abc import Callable, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from densevse.analyses.alignments.alignments import ALIGNMENTS, TRIPLET_REGIONS
from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.figures import (
    RIGHT_COLOUR,
    WRONG_COLOUR,
    canvas,
    draw_phrases,
    draw_picture,
    place_picture,
    save_figure,
    shorten_text,
)
from densevse.report.pictures import Pixels, photographs
from densevse.runtime.arrays import spaced_indices
from snakeproof import schema

_PICTURES, _COLUMNS, SENTENCES, TRIPLETS = 8, 4, 5, 8
_SENTENCES = (
    "Above each test image: its five best sentences, those that describe it in green, others in red. Below: triplets "
    "of the best one, as relation(governor, dependent); each has the colour of its box, and the score of the two."
)
_TRIPLETS = (
    "For each triplet, relation(governor, dependent), with its number in the training sentences: the test regions that "
    "score highest with it, the best first. The number above a region is its score."
)
_TOP, _LINE, _SIDE, _INNER = 0.5, 2.4, 1.9, (1.8, 1.8)  # inches: above triplets, a triplet, a region and its picture


def draw_alignments(
    alignments: str,
    triplet_regions: str,
    retrieval: str,
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    title: str,
    sentences: str,
    triplets: str,
) -> None:
    """The job that draws a model's alignments (Figure 4, the output `sentences`) and regions (Figure 5, `triplets`).

    `alignments` are ALIGNMENTS, `triplet_regions` TRIPLET_REGIONS, `retrieval` ranks sentences for images, and
    `sources` are the data set's files by name.
    """
    photograph = photographs(image_table, sources)
    texts = schema.read(caption_table, CAPTIONS).set_index("caption_id")["text"]
    ranked, found = schema.read(retrieval, RETRIEVAL), schema.read(alignments, ALIGNMENTS)
    save_figure(_draw_sentences(ranked, found, texts, photograph, title), sentences, _SENTENCES)
    save_figure(_draw_regions(schema.read(triplet_regions, TRIPLET_REGIONS), photograph, title), triplets, _TRIPLETS)


def _draw_sentences(
    ranked: pd.DataFrame, found: pd.DataFrame, texts: pd.Series, photograph: Callable[[str], Pixels], title: str
) -> Figure:
    """Draws images evenly spaced in RETRIEVAL rows with their best sentences, and the first one's ALIGNMENTS."""
    asked = ranked[(ranked["direction"] == "i2t") & (ranked["fold"] == 0)]
    asked = asked.iloc[spaced_indices(len(asked), _PICTURES)]
    found = found.assign(phrase=_format_triplets).rename(columns={"score": "confidence"})
    figure, axes = _create_axes(len(asked), title)
    for place, (_, query) in zip(axes, asked.iterrows(), strict=False):
        draw_picture(place, photograph(query["query_id"]))
        of_first = (found["image_id"] == query["query_id"]) & (found["caption_id"] == query["top"][0])
        draw_phrases(place, found[of_first].sort_values("confidence", ascending=False).head(TRIPLETS))
        _list_sentences(place, query, texts)
    return figure


def _draw_regions(found: pd.DataFrame, photograph: Callable[[str], Pixels], title: str) -> Figure:
    """Draws the regions of TRIPLET_REGIONS rows, a line for each triplet, the best region first."""
    triplets = found.assign(triplet=_format_triplets).groupby("triplet", sort=False)
    columns = int(triplets.size().max())
    figure, axes = canvas(_SIDE * columns, _TOP + _LINE * len(triplets), title)
    for line, (triplet, regions) in enumerate(triplets):
        top = _TOP + _LINE * line
        text = f"{triplet}, {regions['sentences'].iloc[0]:,} times"
        axes.text(0.1, top + 0.1, text, fontsize=10, va="center", parse_math=False)
        for column, (_, region) in enumerate(regions.iterrows()):
            left = _SIDE * column + 0.05
            place_picture(axes, _crop_region(photograph(region["image_id"]), region), (left, top + 0.5), _INNER)
            axes.text(left + _INNER[0] / 2, top + 0.37, f"{region['score']:.2f}", fontsize=8, ha="center", va="center")
    return figure


def _crop_region(pixels: Pixels, region: pd.Series) -> Pixels:
    left, top, width, height = (int(region[name]) for name in BOX)
    return pixels[top : top + max(1, height), left : left + max(1, width)]


def _create_axes(pictures: int, title: str) -> tuple[Figure, list[Axes]]:
    """A figure with a place for each of `pictures` pictures, room for sentences above each and for triplets below."""
    lines = max(1, -(-pictures // _COLUMNS))
    figure = Figure(figsize=(4 * _COLUMNS, 7 * lines))
    figure.suptitle(title, parse_math=False)
    axes = list(figure.subplots(lines, _COLUMNS, squeeze=False).ravel())
    figure.subplots_adjust(left=0.01, right=0.99, top=1 - 1.6 / (7 * lines), bottom=2 / (7 * lines), hspace=0.85)
    for place in axes:
        place.axis("off")
    return figure, axes


def _format_triplets(rows: pd.DataFrame) -> pd.Series:
    """Triplets as text: amod(dog, black)."""
    return rows["relation"] + "(" + rows["governor"] + ", " + rows["dependent"] + ")"


def _list_sentences(axes: Axes, query: pd.Series, texts: pd.Series) -> None:
    sentences = zip(query["top"][:SENTENCES], query["top_true"], strict=False)
    for number, (caption, right) in enumerate(sentences):
        axes.text(
            0,
            1.02 + 0.055 * (SENTENCES - 1 - number),
            shorten_text(f"{number + 1}. {texts[caption]}", 58),
            color=RIGHT_COLOUR if right else WRONG_COLOUR,
            fontsize=8,
            va="bottom",
            transform=axes.transAxes,
            parse_math=False,
        )
