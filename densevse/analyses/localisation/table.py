"""The accuracy of heat maps at pointing into true boxes, beside the image's centre and a random place."""

import pandas as pd

from densevse.analyses.localisation.schemas import HEAT_MAPS, LOCALISATION_ACCURACY, POINTED
from densevse.artifacts import schema
from densevse.artifacts.families import families_of
from densevse.artifacts.lineage import lineage
from densevse.report.accuracy import ACCURACY_INTERVALS, accuracy_cells, gain_cells, write_accuracies
from densevse.report.rendering import Document, Sheet, TableColumn
from densevse.statistics.accuracies import accuracies

_COLUMNS = ["image_id", "right", "centre_right", "box_share"]
_TITLES = {
    "heat map": "the peak of the heat map",
    "centre": "the centre of the image",
    "chance": "a place at random: the boxes' share of the image",
}


def write_table(
    heat_maps: str, image_table: str, title: str, parquet: str, markdown: str, html: str, latex: str
) -> None:
    """The job that measures the accuracy of HEAT_MAPS: LOCALISATION_ACCURACY rows, Markdown, page and LaTeX."""
    counted = accuracy(schema.read(heat_maps, HEAT_MAPS, _COLUMNS), families_of(image_table))
    made_from = lineage({}, {"heat_maps": heat_maps, "images": image_table})
    paths = (parquet, markdown, html, latex)
    write_accuracies(counted, LOCALISATION_ACCURACY, table(counted, title), paths, made_from)


def accuracy(rows: pd.DataFrame, families: pd.Series) -> pd.DataFrame:
    """LOCALISATION_ACCURACY rows of HEAT_MAPS rows. Intervals draw over `families`, given by image."""
    right = dict(zip(POINTED, (rows[name].to_numpy(float) for name in _COLUMNS[1:]), strict=True))
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
