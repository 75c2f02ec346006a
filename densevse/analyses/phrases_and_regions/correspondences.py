"""Draws learned correspondences on images: each phrase in the colour of its box (HM-LSTM, Fig 7)."""

import textwrap
from collections.abc import Mapping

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import CORRESPONDENCES
from densevse.report.figures import draw_phrases, draw_picture, picture_grid, save
from densevse.report.pictures import photographs
from densevse.runtime.arrays import evenly_spaced

_PICTURES = 8


def draw_correspondences(
    correspondences: str,
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    title: str,
    output: str,
) -> None:
    """The job that draws correspondences of captions that are evenly spaced in a CORRESPONDENCES artifact.

    They are not chosen by their looks.
    """
    found = schema.read(correspondences, CORRESPONDENCES)
    texts = schema.read(caption_table, CAPTIONS).set_index("caption_id")["text"]
    photograph = photographs(image_table, sources)
    described = found["caption_id"].unique()
    chosen = described[evenly_spaced(len(described), _PICTURES)]
    figure, axes = picture_grid(len(chosen), title)
    for place, caption_id in zip(axes, chosen, strict=False):
        phrases = found[found["caption_id"] == caption_id].sort_values(["start", "end"])
        draw_picture(place, photograph(phrases["image_id"].iloc[0]))
        place.set_title(textwrap.fill(texts[caption_id], 36), fontsize=9, parse_math=False)
        draw_phrases(place, phrases)
    save(figure, output)
