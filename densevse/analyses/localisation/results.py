"""The accuracy of heat maps at pointing into true boxes, and a picture of them.

The table has the image's centre and a random place beside them.
"""

import textwrap
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from densevse.analyses.localisation.schemas import HEAT_MAPS
from densevse.artifacts.boxes import BOX
from densevse.artifacts.families import read_families
from densevse.artifacts.phrase_boxes import named_boxes
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.report.accuracies import ACCURACY_INTERVALS, accuracies, accuracy_cells, gain_cells, write_accuracies
from densevse.report.figures import RIGHT_COLOUR, WRONG_COLOUR, save_figure
from densevse.report.pictures import pictures
from densevse.report.rendering import Document, Sheet, TableColumn
from densevse.runtime.arrays import spaced_indices
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema

POINTED = ("heat map", "centre", "chance")
"""Ways to point at a place: the peak of a heat map, the centre of the image, or a random place."""

LOCALISATION_ACCURACY = Schema(
    "localisation_accuracy",
    "a way to point at phrases",
    (
        Column("by", TEXT, f"what points: {', '.join(POINTED)}"),
        Column("phrases", NUMBER, "how many phrases there are; one in two images counts twice"),
        Column("images", NUMBER, "how many images they are in"),
        Column("accuracy", REAL, "the share of phrases of which it points into a true box, from 0 to 1"),
        Column("low", REAL, "the lower end of its 95% interval, by a bootstrap over families of images", nullable=True),
        Column("high", REAL, "the upper end", nullable=True),
        Column("gain", REAL, "the accuracy of heat maps less this one"),
        Column("gain_low", REAL, "the lower end of its paired 95% interval", nullable=True),
        Column("gain_high", REAL, "the upper end", nullable=True),
    ),
)

_READ = ["image_id", "right", "centre_right", "box_share"]
_TITLES = {
    "heat map": "the peak of the heat map",
    "centre": "the centre of the image",
    "chance": "a place at random: the boxes' share of the image",
}
_COLUMNS, _LINES = 4, 4
TITLE = 40  # characters of a line above a picture


def write_table(
    heat_maps: str, image_table: str, title: str, parquet: str, markdown: str, html: str, latex: str
) -> None:
    """The job that measures the accuracy of HEAT_MAPS: LOCALISATION_ACCURACY rows, Markdown, page and LaTeX."""
    counted = accuracy(schema.read(heat_maps, HEAT_MAPS, _READ), read_families(image_table))
    paths = (parquet, markdown, html, latex)
    write_accuracies(counted, LOCALISATION_ACCURACY, table(counted, title), paths)


def accuracy(rows: pd.DataFrame, families: pd.Series) -> pd.DataFrame:
    """LOCALISATION_ACCURACY rows of HEAT_MAPS rows. Intervals draw over `families`, given by image."""
    right = dict(zip(POINTED, (rows[name].to_numpy(float) for name in _READ[1:]), strict=True))
    found = pd.DataFrame(accuracies(right, families.reindex(rows["image_id"])))
    return found.assign(phrases=len(rows), images=rows["image_id"].nunique())


def table(rows: pd.DataFrame, title: str) -> Document:
    """LOCALISATION_ACCURACY rows as a table."""
    columns = (
        TableColumn("pointed at", number=False),
        *(TableColumn(name) for name in ("accuracy", "95%", "gain", "95%")),
    )
    cells = [
        [_TITLES[row["by"]], *accuracy_cells(row), *gain_cells(row, POINTED[0])] for row in rows.to_dict("records")
    ]
    counts = f"{int(rows['phrases'].iloc[0]):,} phrases in {int(rows['images'].iloc[0]):,} images"
    notes = [
        "Accuracy, by the pointing game: the share (%) of phrases whose place is in one of the true boxes, without a "
        "tolerance around them.",
        "Gain: the accuracy of heat maps minus that of this line.",
        ACCURACY_INTERVALS,
    ]
    return Document(title, [Sheet(counts, columns, cells)], notes)


def draw_heat_maps(
    heat_maps: str,
    image_table: str,
    boxes: str,
    sources: Mapping[str, str],
    title: str,
    output: str,
) -> None:
    """The job that draws heat maps of a HEAT_MAPS artifact, evenly spaced (not chosen by their looks), over images.

    White frames are the phrase's true boxes. The cross is the peak: green if it is in one of them, else red.
    """
    rows = schema.read(heat_maps, HEAT_MAPS)
    shown = rows.iloc[spaced_indices(len(rows), _COLUMNS * _LINES)]
    images, true = schema.read(image_table, IMAGES).set_index("image_id"), named_boxes(schema.read(boxes, BOXES))
    picture = pictures(image_table, sources)
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
        _draw_heat_map(place, picture(image_id), size, row, named[BOX].to_numpy(float))
    save_figure(figure, output, "White: true boxes of the phrase. Cross: the peak, green in a true box, else red.")


def _draw_heat_map(
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
