"""Draws images with generated sentences about them."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from densevse.artifacts import schema
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.captions import GENERATED
from densevse.config.strict import validate
from densevse.report.figures import QUIET, draw_picture, save, shortened
from densevse.report.pictures import pictures
from densevse.report.plan import PicturePlan
from densevse.runtime.arrays import evenly_spaced

_LINES, BESIDE = 4, 2  # rows and columns of pictures
WIDTH, _LONGEST = 62, 124  # characters of a line, and of a sentence
PICTURE, WRITER = 3, 0.6  # inches: the least height of a picture, and the height of a writer's name and two lines


def draw_captions(
    generated: Sequence[str],
    image_table: str,
    sources: Sequence[str],
    source_names: Sequence[str],
    plan: Mapping[str, Any],
    output: str,
) -> None:
    """The job that draws images, evenly spaced among those with sentences, with the first sentence of each writer.

    `generated` are the GENERATED artifacts of `plan` (the values of a `PicturePlan`), in any order, all about the same
    split; `sources` are the data set's files. A sentence that occurs word for word in training is in italics. Raises
    `InputError` if an artifact is missing.
    """
    planned, index = validate(PicturePlan, plan, "the plan of the picture"), ArtifactIndex(generated, GENERATED)
    found = {title: _first(index.path(of)) for title, of in planned.shown.items()}
    about = next(iter(found.values())).index
    chosen = about[evenly_spaced(len(about), _LINES * BESIDE)]
    picture = pictures(image_table, dict(zip(source_names, sources, strict=True)))
    figure = Figure(figsize=(8 * BESIDE, max(PICTURE, WRITER * len(found)) * _LINES), layout="constrained")
    figure.suptitle(planned.title, parse_math=False)
    axes = figure.subplots(_LINES, 2 * BESIDE, squeeze=False, width_ratios=[1, 1.7] * BESIDE)
    for place in axes.ravel():
        place.axis("off")
    for image, (left, right) in zip(chosen, axes.reshape(-1, 2), strict=False):
        draw_picture(left, picture(str(image)))
        _list(right, {name: rows.loc[image] for name, rows in found.items() if image in rows.index})
    save(figure, output)


def _first(file: str) -> pd.DataFrame:
    """The first sentence about each image."""
    rows = schema.read(file, GENERATED, ["image_id", "rank", "sentence", "in_training"])
    return rows[rows["rank"] == 1].set_index("image_id")


def _list(axes: Axes, sentences: Mapping[str, pd.Series]) -> None:
    for line, (name, row) in enumerate(sentences.items()):
        height = 0.99 - line / len(sentences)
        style: dict[str, Any] = {"fontsize": 9, "va": "top", "transform": axes.transAxes, "parse_math": False}
        axes.text(0, height, shortened(name, WIDTH), color=QUIET, **style)
        sentence = fill(shortened(row["sentence"], _LONGEST), WIDTH)
        axes.text(0, height - 0.07, sentence, fontstyle="italic" if row["in_training"] else "normal", **style)
