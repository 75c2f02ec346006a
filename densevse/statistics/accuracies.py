"""How often each way to answer the same queries is right, and what the first way gains on the others."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import interval_of_mean


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
