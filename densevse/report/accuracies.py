"""Tables of the accuracy of several ways to answer the same queries, and the gains of the first way over the others."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from densevse.report.footnotes import add_adopted_note
from densevse.report.rendering import Document, number, number_range
from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import TOO_FEW, interval_of_mean
from snakeproof import schema
from snakeproof.schema import Schema


def accuracies(right: Mapping[str, Reals], groups: pd.Series) -> Iterator[dict[str, Any]]:
    """The columns by, accuracy, low, high, gain, gain_low and gain_high for each way.

    `right` has the correctness of each way on each of n queries, from 0 to 1; gains are the first way's. `groups` (n,)
    are the families of the queries' images.
    """
    first = next(iter(right.values()))
    for by, hits in right.items():
        gain = first - hits
        (low, high), (gain_low, gain_high) = interval_of_mean(hits, groups), interval_of_mean(gain, groups)
        measured = {"by": by, "accuracy": hits.mean(), "low": low, "high": high}
        yield measured | {"gain": gain.mean(), "gain_low": gain_low, "gain_high": gain_high}


ACCURACY_INTERVALS = f"Intervals hold 95% of a bootstrap over families of images; those of gains are paired. {TOO_FEW}"


def accuracy_cells(row: Mapping[Any, Any]) -> list[str]:
    """The accuracy of a way in percent, and its interval."""
    return [number(100 * row["accuracy"]), number_range((100 * row["low"], 100 * row["high"]))]


def gain_cells(row: Mapping[Any, Any], first: str) -> list[str]:
    """The gain of the `first` way over another one in percent, with its interval; empty beside itself."""
    if row["by"] == first:
        return ["", ""]
    return [number(100 * row["gain"]), number_range((100 * row["gain_low"], 100 * row["gain_high"]))]


def write_accuracies(rows: pd.DataFrame, kind: Schema, shown: Document, paths: tuple[str, str, str, str]) -> None:
    """Writes accuracies as rows of their schema, as Markdown, as a page and as LaTeX: the four `paths`."""
    schema.write(rows, kind, paths[0])
    add_adopted_note(shown).write(*paths[1:])
