"""Draws the concepts that a network predicts for images, with their scores (SCO, Fig 5)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.artifacts.store import FeatureStore
from densevse.report.drawing import draw_picture
from densevse.report.grid import picture_grid
from densevse.report.pictures import photographs
from densevse.report.saving import QUIET, RIGHT_COLOUR, save
from densevse.runtime.arrays import evenly_spaced

_PICTURES, _SHOWN = 8, 10
_BAR = 0.35  # of a picture's width, for a score of 1


def draw_predicted_concepts(
    scores: Sequence[str],
    image_table: str,
    concepts: str,
    image_concepts: str,
    sources: Sequence[str],
    source_names: Sequence[str],
    title: str,
    output: str,
) -> None:
    """The job that draws test images, evenly spaced in their table, each with the ten concepts that score highest.

    `scores` are the shards of the view `concepts`, `sources` the data set's files. Concepts that the image's own
    sentences name are green.
    """
    images = schema.read(image_table, IMAGES)
    test = images[(images["split"] == "test") & (images["status"] == "ok")]
    names = schema.read(concepts, CONCEPTS)["concept"].to_numpy(object)
    named = schema.read(image_concepts, IMAGE_CONCEPTS).set_index("image_id")["concepts"]
    store = FeatureStore(scores, IMAGE_FEATURES)
    photograph = photographs(image_table, dict(zip(source_names, sources, strict=True)))
    number = {image: row for row, image in enumerate(store.rows["image_id"])}
    chosen = test["image_id"].iloc[evenly_spaced(len(test), _PICTURES)]
    figure, axes = picture_grid(len(chosen), title)
    for place, image_id in zip(axes, chosen, strict=False):
        draw_picture(place, photograph(image_id))
        _draw(place, store.gather([number[image_id]])[0].astype(np.float32), names, named[image_id])
    save(figure, output)


def _draw(axes: Axes, scores: NDArray[np.float32], names: NDArray[np.object_], named: Sequence[int]) -> None:
    for line, concept in enumerate(np.argsort(-scores, kind="stable")[:_SHOWN]):
        height, color = -0.04 - 0.055 * line, RIGHT_COLOUR if concept in named else QUIET
        text = f"{names[concept]}  {scores[concept]:.2f}"
        axes.text(0, height, text, color=color, fontsize=9, va="center", transform=axes.transAxes, parse_math=False)
        ends = 0.5, 0.5 + _BAR * float(scores[concept])
        axes.plot(ends, (height, height), color=color, lw=4, transform=axes.transAxes, clip_on=False)
