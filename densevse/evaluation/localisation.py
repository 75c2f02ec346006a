"""How often heat maps of phrases point into true boxes, beside the centre of the image and a place at random."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.files import write_text
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.localisation import HEAT_MAPS, LOCALISATION_ACCURACY, POINTED
from densevse.bootstrap import interval_of_mean
from densevse.evaluation.rendering import Column, Document, Sheet

COLUMNS = ["image_id", "right", "centre_right", "box_share"]
TITLES = {
    "heat map": "the peak of the heat map",
    "centre": "the centre of the image",
    "chance": "a place at random: the boxes' share of the image",
}


def write_table(heat_maps: str, images: str, title: str, paths: tuple[str, str], made_from: Mapping[str, Any]) -> None:
    """Count how often HEAT_MAPS rows are right; write that as LOCALISATION_ACCURACY rows and as Markdown."""
    families = schema.read(images, IMAGES, ["image_id", "family"]).set_index("image_id")["family"]
    counted = accuracy(schema.read(heat_maps, HEAT_MAPS, COLUMNS), families)
    schema.write(counted, LOCALISATION_ACCURACY, paths[0], made_from)
    write_text(table(counted, title).markdown(), paths[1])


def accuracy(rows: pd.DataFrame, families: pd.Series) -> pd.DataFrame:
    """LOCALISATION_ACCURACY rows of HEAT_MAPS rows. `families`, by image, are what intervals are drawn over."""
    groups = list(families.reindex(rows["image_id"]))
    right = dict(zip(POINTED, (rows[name].to_numpy(float) for name in COLUMNS[1:]), strict=True))
    found = []
    for by, hits in right.items():
        gain = right["heat map"] - hits
        low, high = interval_of_mean(hits, groups)
        gain_low, gain_high = interval_of_mean(gain, groups)
        found.append(
            {
                "by": by,
                "phrases": len(rows),
                "images": rows["image_id"].nunique(),
                "accuracy": hits.mean(),
                "low": low,
                "high": high,
                "gain": gain.mean(),
                "gain_low": gain_low,
                "gain_high": gain_high,
            }
        )
    return pd.DataFrame(found)


def table(rows: pd.DataFrame, title: str) -> Document:
    """LOCALISATION_ACCURACY rows as a table."""
    columns = (Column("pointed at", number=False), *(Column(name) for name in ("accuracy", "95%", "gain", "95%")))
    cells = [
        [
            TITLES[str(row["by"])],
            _percent(row["accuracy"]),
            f"{_percent(row['low'])} to {_percent(row['high'])}",
            _percent(row["gain"]) if row["by"] != "heat map" else "",
            f"{_percent(row['gain_low'])} to {_percent(row['gain_high'])}" if row["by"] != "heat map" else "",
        ]
        for _, row in rows.iterrows()
    ]
    counts = f"{int(rows['phrases'].iloc[0]):,} phrases in {int(rows['images'].iloc[0]):,} images"
    notes = [
        "Accuracy, by the pointing game: the share (%) of phrases of which the place lies in one of the true boxes, "
        "without any tolerance beside them.",
        "Gain: what heat maps have above this line.",
        "Intervals hold 95% of a bootstrap over families of images; those of gains are paired.",
    ]
    return Document(title, [Sheet(counts, columns, cells)], notes)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
