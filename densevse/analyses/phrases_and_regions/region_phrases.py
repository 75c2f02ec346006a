"""Draws the phrases of the test sentences that are nearest to a region (HM-LSTM, Fig 6)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from densevse.artifacts.schemas.embeddings import EMBEDDINGS
from densevse.artifacts.store import FeatureStore
from densevse.report.drawing import draw_picture
from densevse.report.grid import picture_grid
from densevse.report.pictures import photographs
from densevse.report.saving import QUIET, RIGHT_COLOUR, save
from densevse.report.texts import shortened
from densevse.runtime.spacing import evenly_spaced

Vectors = NDArray[np.float32]
_REGIONS, PHRASES = 8, 5
BOX_COLOR = "#d93025"


def region_phrases(embeddings: str, images: str, sources: dict[str, str], title: str, path: str) -> None:
    """Draws the best detection of images evenly spaced in their table, each with its nearest phrases.

    `embeddings` is an EMBEDDINGS artifact, `images` the data set's table. A phrase of the image itself is green.
    """
    store = FeatureStore([embeddings], EMBEDDINGS)
    rows = store.rows
    best = np.flatnonzero((rows["kind"] == "region") & (rows["rank"] == 1))
    phrases = np.flatnonzero(rows["kind"] == "phrase")
    vectors = store.gather(phrases).astype(np.float32)
    photograph = photographs(images, sources)
    chosen = best[evenly_spaced(len(best), _REGIONS)]
    figure, axes = picture_grid(len(chosen), title)
    for place, number in zip(axes, chosen, strict=False):
        region = rows.iloc[number]
        draw_picture(place, photograph(region["image_id"]))
        _draw(place, region, nearest(store.gather([number])[0].astype(np.float32), rows.iloc[phrases], vectors))
    save(figure, path)


def nearest(region: Vectors, rows: pd.DataFrame, vectors: Vectors) -> pd.DataFrame:
    """The nearest phrases of a region, best first, each wording once (lower case): rows with their `score`."""
    scored = rows.assign(score=vectors @ region, wording=rows["text"].str.lower())
    ranked = scored.sort_values("score", ascending=False, kind="stable")
    return ranked.drop_duplicates("wording").head(PHRASES)


def _draw(axes: Axes, region: pd.Series, found: pd.DataFrame) -> None:
    corner = (float(region["x"]), float(region["y"]))
    size = (float(region["width"]), float(region["height"]))
    axes.add_patch(Rectangle(corner, *size, fill=False, color=BOX_COLOR, lw=2.5))
    for number, (_, phrase) in enumerate(found.iterrows()):
        axes.text(
            0,
            -0.03 - 0.07 * number,
            f"({number + 1}) {shortened(phrase['text'], 38)}",
            color=RIGHT_COLOUR if phrase["image_id"] == region["image_id"] else QUIET,
            fontsize=9,
            va="top",
            transform=axes.transAxes,
            parse_math=False,
        )
