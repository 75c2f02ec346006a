"""Tables of accuracies: those of several ways, and the gains of the first way over the others."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schema import Schema
from densevse.report.rendering import Document, number, number_range
from densevse.statistics.bootstrap import TOO_FEW

ACCURACY_INTERVALS = f"Intervals hold 95% of a bootstrap over families of images; those of gains are paired. {TOO_FEW}"


def accuracy_cells(row: Mapping[Any, Any]) -> list[str]:
    """The accuracy of a way in percent, and its interval."""
    return [number(100 * row["accuracy"]), number_range((100 * row["low"], 100 * row["high"]))]


def gain_cells(row: Mapping[Any, Any], first: str) -> list[str]:
    """The gain of the `first` way over another one in percent, with its interval; empty beside itself."""
    if row["by"] == first:
        return ["", ""]
    return [number(100 * row["gain"]), number_range((100 * row["gain_low"], 100 * row["gain_high"]))]


def write_accuracies(
    rows: pd.DataFrame, kind: Schema, shown: Document, paths: tuple[str, str, str, str], made_from: Mapping[str, Any]
) -> None:
    """Writes accuracies as rows of their schema, as Markdown, as a page and as LaTeX: the four `paths`."""
    schema.write(rows, kind, paths[0], made_from)
    shown.write(*paths[1:])
