"""Learned correspondences drawn on images: each phrase in the colour of its box (HM-LSTM, Fig 7)."""

import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.correspondences import CORRESPONDENCES
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.report.grid import picture_grid
from densevse.report.pictures import photographs
from densevse.report.saving import save
from densevse.runtime.spacing import evenly_spaced

COLORS = ("#e8710a", "#188038", "#1967d2", "#d01884", "#9334e6", "#b80672", "#129eaf", "#7a4510")
PICTURES = 8


def correspondences(rows: str, images: str, captions: str, sources: dict[str, str], title: str, path: str) -> None:
    """Draw the correspondences of captions evenly spaced in a CORRESPONDENCES artifact: not chosen by their looks.

    `images` and `captions` are the data set's tables, `sources` its files by source name.
    """
    found = schema.read(rows, CORRESPONDENCES)
    texts = schema.read(captions, CAPTIONS).set_index("caption_id")["text"]
    photograph = photographs(images, sources)
    described = found["caption_id"].unique()
    chosen = described[evenly_spaced(len(described), PICTURES)]
    figure, axes = picture_grid(len(chosen), title)
    for place, caption_id in zip(axes, chosen, strict=False):
        phrases = found[found["caption_id"] == caption_id].sort_values(["start", "end"])
        place.imshow(photograph(phrases["image_id"].iloc[0]))
        place.set_title(textwrap.fill(texts[caption_id], 44), fontsize=9, parse_math=False)
        draw_phrases(place, phrases)
    save(figure, path)


def draw_phrases(axes: Axes, phrases: pd.DataFrame) -> None:
    """Draw each phrase's box on a picture and list the phrases below it, with their confidences."""
    for number, (_, phrase) in enumerate(phrases.iterrows()):
        color = COLORS[number % len(COLORS)]
        x, y, width, height = (float(phrase[name]) for name in BOX)
        inset = 0.01 * number * max(width, height)  # boxes of one region lie beside each other
        axes.add_patch(
            Rectangle((x + inset, y + inset), width - 2 * inset, height - 2 * inset, fill=False, color=color, lw=2.5)
        )
        axes.text(
            0,
            -0.03 - 0.06 * number,
            f"{textwrap.shorten(phrase['phrase'], 44, placeholder=' ...')}  {phrase['confidence']:.2f}",
            color=color,
            fontsize=9,
            va="top",
            transform=axes.transAxes,
            parse_math=False,
        )
