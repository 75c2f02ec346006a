"""Draws heat maps of phrases over their images."""

import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from densevse.analyses.localisation.schemas import HEAT_MAPS
from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX
from densevse.artifacts.phrase_boxes import named_boxes
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.report.pictures import pictures
from densevse.report.saving import RIGHT_COLOUR, WRONG_COLOUR, save
from densevse.runtime.arrays import evenly_spaced

_COLUMNS, _LINES = 4, 4
TITLE = 40  # characters of a line above a picture


def draw_heat_maps(
    heat_maps: str,
    image_table: str,
    boxes: str,
    sources: Sequence[str],
    source_names: Sequence[str],
    title: str,
    output: str,
) -> None:
    """The job that draws heat maps of a HEAT_MAPS artifact, evenly spaced (not chosen by their looks), over images.

    White frames are the phrase's true boxes. The cross is the peak: green if it is in one of them, else red.
    """
    rows = schema.read(heat_maps, HEAT_MAPS)
    shown = rows.iloc[evenly_spaced(len(rows), _COLUMNS * _LINES)]
    images, true = schema.read(image_table, IMAGES).set_index("image_id"), named_boxes(schema.read(boxes, BOXES))
    picture = pictures(image_table, dict(zip(source_names, sources, strict=True)))
    lines = -(-len(shown) // _COLUMNS)
    figure = Figure(figsize=(3 * _COLUMNS, 3.3 * lines + 0.6), layout="constrained")
    figure.suptitle(f"{title}: where phrases are, by their scores with windows", parse_math=False)
    axes = list(figure.subplots(lines, _COLUMNS, squeeze=False).ravel())
    for place in axes:
        place.set_axis_off()
    for place, (_, row) in zip(axes, shown.iterrows(), strict=False):
        image_id = row["image_id"]
        named = true[(true["image_id"] == image_id) & (true["phrase"] == row["phrase"])]
        size = (int(images.loc[image_id, "width"]), int(images.loc[image_id, "height"]))
        _draw(place, picture(image_id), size, row, named[BOX].to_numpy(float))
    save(figure, output)


def _draw(
    place: Axes, picture: NDArray[np.uint8], size: tuple[int, int], row: pd.Series, true: NDArray[np.float64]
) -> None:
    """Draws a grey picture below its heat map; things placed on it use pixels of the whole image, of that `size`."""
    extent = (0, size[0], size[1], 0)
    side = round(len(row["heat"]) ** 0.5)
    place.imshow(picture.mean(axis=2), cmap="gray", vmin=0, vmax=255, extent=extent)
    place.imshow(np.reshape(row["heat"], (side, side)), cmap="inferno", alpha=0.5, extent=extent)
    for x, y, width, height in true:
        place.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor="white", linewidth=1.5))
    colour = RIGHT_COLOUR if row["right"] else WRONG_COLOUR
    place.plot(row["x"], row["y"], "P", markersize=11, markerfacecolor=colour, markeredgecolor="white")
    place.set_title(textwrap.fill(row["phrase"], TITLE), fontsize=9, parse_math=False)
