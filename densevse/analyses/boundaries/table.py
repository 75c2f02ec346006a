"""The F-measure of contour maps against people's boundaries (Martin, Fowlkes and Malik, PAMI 2004)."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.analyses.boundaries.schemas import BOUNDARY_MATCHES, TOLERANCE
from densevse.artifacts.schema import read
from densevse.report.rendering import Document, Sheet, TableColumn

_Reals = NDArray[np.float64]

F_MEASURES = {
    "ods": "F (ODS)",
    "ois": "F (OIS)",
    "threshold": "Threshold",
    "precision": "Precision",
    "recall": "Recall",
}
"""The metrics of a summary, by their names in the table."""


def write_table(matches: str, markdown: str, html: str, latex: str) -> None:
    """The job that writes the table of the contour maps in BOUNDARY_MATCHES."""
    table(read(matches, BOUNDARY_MATCHES)).write(markdown, html, latex)


def f_measure(right: _Reals, drawn: _Reals, found: _Reals, true: _Reals) -> _Reals:
    """The harmonic mean of precision and recall; 0 if nothing is matched."""
    precision, recall = right / np.maximum(drawn, 1), found / np.maximum(true, 1)
    total: _Reals = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return total


def summary(rows: pd.DataFrame) -> dict[str, float]:
    """The summary of one map's BOUNDARY_MATCHES: its best F at one threshold (ODS), and at each image's best (OIS).

    It also has the threshold of ODS, and the precision and recall there.
    """
    counts = ["right", "drawn", "found", "true"]
    together = rows.groupby("threshold")[counts].sum()
    scores = f_measure(*together.to_numpy(np.float64).T)
    best = together.iloc[int(scores.argmax())]
    of_image = rows.assign(f=f_measure(*rows[counts].to_numpy(np.float64).T)).reset_index(drop=True)
    own = of_image.loc[of_image.groupby("image_id")["f"].idxmax(), counts].sum()
    return {
        "ods": float(scores.max()),
        "ois": float(f_measure(*own.to_numpy(np.float64)[:, None])[0]),
        "threshold": float(together.index[int(scores.argmax())]),
        "precision": float(best["right"] / max(best["drawn"], 1)),
        "recall": float(best["found"] / max(best["true"], 1)),
        "images": rows["image_id"].nunique(),
    }


def table(rows: pd.DataFrame) -> Document:
    """The summaries of all maps of BOUNDARY_MATCHES."""
    lines = []
    for name, group in rows.groupby("map", sort=False):
        facts = summary(group)
        lines.append([str(name), str(facts["images"]), *(f"{facts[key]:.3f}" for key in F_MEASURES)])
    columns = (TableColumn("Map", number=False), *map(TableColumn, ("Images", *F_MEASURES.values())))
    notes = [
        "ODS: one threshold for all images; OIS: the best one of each.",
        f"Pixels are matched one to one with each person's boundaries, within {TOLERANCE} of the image's diagonal.",
    ]
    return Document("Boundaries", [Sheet("", columns, lines)], notes)
