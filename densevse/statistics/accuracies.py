"""The accuracy of several ways to answer the same queries, and the gains of the first way over the others."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import interval_of_mean


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
