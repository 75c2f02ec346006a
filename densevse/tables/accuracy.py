"""How often each way to answer the same queries is right, and what the first way gains on the others.

Used where queries are right or wrong: image - word + word (arithmetic.py), and where phrases are (localisation.py).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schema import Schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.statistics.bootstrap import TOO_FEW, Reals, interval_of_mean
from densevse.tables.rendering import Document, number, number_range

INTERVALS = f"Intervals hold 95% of a bootstrap over families of images; those of gains are paired. {TOO_FEW}"


def families_of(images: str) -> pd.Series:
    """The family of each image of an IMAGES artifact, by image_id: what intervals are drawn over."""
    return schema.read(images, IMAGES, ["image_id", "family"]).set_index("image_id")["family"]


def accuracies(right: Mapping[str, Reals], groups: pd.Series) -> Iterator[dict[str, Any]]:
    """For each way, the columns by, accuracy, low, high, gain, gain_low and gain_high.

    `right` says of each way how right it is on each of n queries, from 0 to 1; the gains are the first way's. `groups`
    (n,) are the families of the queries' images.
    """
    first = next(iter(right.values()))
    for by, hits in right.items():
        gain = first - hits
        (low, high), (gain_low, gain_high) = interval_of_mean(hits, groups), interval_of_mean(gain, groups)
        measured = {"by": by, "accuracy": hits.mean(), "low": low, "high": high}
        yield measured | {"gain": gain.mean(), "gain_low": gain_low, "gain_high": gain_high}


def accuracy_cells(row: Mapping[Any, Any]) -> list[str]:
    """The accuracy of a way in percent, and its interval."""
    return [number(100 * row["accuracy"]), number_range((100 * row["low"], 100 * row["high"]))]


def gain_cells(row: Mapping[Any, Any], first: str) -> list[str]:
    """What the `first` way gains on another one in percent, and its interval; nothing beside itself."""
    if row["by"] == first:
        return ["", ""]
    return [number(100 * row["gain"]), number_range((100 * row["gain_low"], 100 * row["gain_high"]))]


def write_accuracies(
    rows: pd.DataFrame, kind: Schema, shown: Document, paths: tuple[str, str, str], made_from: Mapping[str, Any]
) -> None:
    """Write accuracies as rows of their schema, as Markdown and as a page: the three `paths`."""
    schema.write(rows, kind, paths[0], made_from)
    shown.write(*paths[1:])
