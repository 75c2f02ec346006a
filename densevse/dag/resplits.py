"""Resplits over which a result has a mean: those of one data set with the same sizes and different seeds."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from densevse.config.datasets import Dataset
from densevse.config.strict import DatasetName
from densevse.runtime.errors import InputError


class Resplits(NamedTuple):
    """Resplits of one data set that have the same sizes."""

    of: DatasetName  # the data set that they divide
    names: list[DatasetName]
    train: int  # images of each one's split train
    test: int


def grouped(names: Iterable[DatasetName], datasets: Mapping[DatasetName, Dataset]) -> list[Resplits]:
    """Those of the named data sets that are resplits, grouped; a resplit without a second one like it is left out.

    Raises `InputError` for two of a group with the same seed, which are the same splits.
    """
    alike: dict[tuple[DatasetName, int, int, int], dict[DatasetName, int]] = {}
    for name in names:
        resplit = datasets[name].resplit
        if resplit:
            sizes = (resplit.of, resplit.train, resplit.val, resplit.test)
            alike.setdefault(sizes, {})[name] = resplit.seed
    found = {sizes: seeds for sizes, seeds in alike.items() if len(seeds) > 1}
    for seeds in found.values():
        _check_drawn_apart(seeds)
    return [Resplits(of, list(seeds), train, test) for (of, train, _, test), seeds in found.items()]


def _check_drawn_apart(seeds: Mapping[DatasetName, int]) -> None:
    drawn: dict[int, str] = {}
    for dataset, seed in seeds.items():
        if (other := drawn.setdefault(seed, dataset)) != dataset:
            raise InputError(f"datasets.{dataset}.resplit.seed: {other} has the same one; set another one.")
