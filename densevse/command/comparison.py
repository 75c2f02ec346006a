"""Compares retrievals paired by query: the gain of each metric of one over the other, with 95% intervals."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from densevse.artifacts.identity import read_identity
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.evaluation.metrics import METRIC_COLUMNS
from densevse.evaluation.protocols import MOST, folds, select_split
from densevse.report.sections import list_queries
from densevse.statistics.bootstrap import Interval
from densevse.statistics.intervals import Replicates
from densevse.statistics.rankings import QUERY, RankBootstrap
from snakeproof import schema
from snakeproof.errors import InputError, differences
from snakeproof.statements import read_statement


class Measurement(NamedTuple):
    """The identity of the retrievals of some seeds: data set, protocol and variant."""

    dataset: str
    protocol: str
    variant: str

    def __str__(self) -> str:
        return f"{self.variant} on {self.dataset}, protocol {self.protocol}"


@dataclass(frozen=True)
class Retrievals:
    """The retrievals of a measurement after its last round, one file for each seed."""

    of: Measurement
    files: Mapping[int, Path]
    rounds: Mapping[int, int]  # the round of each seed's file

    @property
    def folder(self) -> Path:
        """The folder of the data set: <results>/<data set>/retrieval/<protocol>/<variant>/seed<k>/<round>.parquet."""
        file = next(iter(self.files.values()))
        return (file.absolute().parent / "../../../..").resolve()


class Gain(NamedTuple):
    """A metric of two measurements."""

    metric: str
    first: float
    second: float
    interval: Interval  # of the second minus the first

    @property
    def difference(self) -> float:
        """The second minus the first."""
        return self.second - self.first


def find_retrievals(path: str | Path) -> dict[Measurement, Retrievals]:
    """The retrievals at a path: a file, a variant's folder, or a whole folder of results.

    Raises `InputError` if there are none.
    """
    place = Path(path)
    files = [place] if place.is_file() else list(filter(_is_retrieval, sorted(place.rglob("*.parquet"))))
    found: dict[Measurement, dict[int, tuple[int, Path]]] = {}
    for file in files:
        schema.check(file, RETRIEVAL)
        of = read_identity(file)
        seeds = found.setdefault(Measurement(of.dataset, str(of.protocol), str(of.variant)), {})
        seeds[of.seed or 0] = max(seeds.get(of.seed or 0, (-1, file)), (of.round or 0, file))
    if not found:
        raise InputError(
            f"{path}: no retrieval is here. Name a folder of results, a variant's folder in it (such as "
            "results/scenes/retrieval/full/vse) or a file of a seed."
        )
    return {
        key: Retrievals(
            key,
            {seed: file for seed, (_, file) in seeds.items()},
            {seed: number for seed, (number, _) in seeds.items()},
        )
        for key, seeds in found.items()
    }


def _is_retrieval(file: Path) -> bool:
    """True if a path ends like retrieval/<protocol>/<variant>/seed<k>/<round>.parquet."""
    return file.resolve().parts[-5:-4] == ("retrieval",)


def pairs(
    first: Mapping[Measurement, Retrievals], second: Mapping[Measurement, Retrievals]
) -> list[tuple[Retrievals, Retrievals]]:
    """The pairs to compare: the only measurement of each side, or those that both sides have.

    Raises `InputError` if they have none in common.
    """
    if len(first) == len(second) == 1:
        return list(zip(first.values(), second.values(), strict=True))
    common = [(first[key], second[key]) for key in sorted(first.keys() & second.keys())]
    if not common:
        raise InputError(
            f"the two have no measurement in common: the first holds {'; '.join(map(str, first))}; and the second "
            f"holds {'; '.join(map(str, second))}."
        )
    return common


def compare(first: Retrievals, second: Retrievals) -> list[Gain]:
    """Compares each metric of both, with the paired 95% interval of second minus first over queries and seeds.

    Raises `InputError` that names the images, sentences, protocol or queries in which the two differ.
    """
    bootstrap, found = paired_replicates(first, second)
    means = [{metric: float(value) for metric, value in one.by_seed.mean().items()} for one in found]
    return [
        Gain(metric, means[0][metric], means[1][metric], bootstrap.difference(metric, found[1], found[0]))
        for metric in METRIC_COLUMNS
    ]


def paired_replicates(first: Retrievals, second: Retrievals) -> tuple[RankBootstrap, tuple[Replicates, Replicates]]:
    """The metrics of both, by seed and on the same draws of queries. Raises `InputError` as `compare` does."""
    for side in (first, second):
        _check_same_round(side)
    _check_same_protocol(first, second)
    _check_same_dataset(first, second)
    tables = (
        schema.read(first.folder / "images.parquet", IMAGES),
        schema.read(first.folder / "captions.parquet", CAPTIONS),
    )
    ranks = schema.read(next(iter(first.files.values())), RETRIEVAL, QUERY)
    queries, groups = find_queries(*tables, first.of.protocol, ranks)
    bootstrap = retrieval_bootstrap(queries, groups)
    ours, theirs = (bootstrap.replicates(list(_rankings(side, queries))) for side in (first, second))
    return bootstrap, (ours, theirs)


def find_queries(
    images: pd.DataFrame, captions: pd.DataFrame, protocol: str, ranks: pd.DataFrame
) -> tuple[pd.DataFrame, list[str]]:
    """The queries that a ranking answers, of all sentences or the first five of each image, and each one's family.

    Those of all sentences if it answers neither.
    """
    test_sets = (select_split(images, captions, sentences=sentences) for sentences in MOST)
    listed = (list_queries(test_set, folds(test_set, protocol)) for test_set in test_sets)
    answered, of_all = ranks[QUERY].to_numpy(object).tolist(), next(listed)
    fitting = (one for one in chain([of_all], listed) if one[0][QUERY].to_numpy(object).tolist() == answered)
    return next(fitting, of_all)


def _rankings(side: Retrievals, queries: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The ranks of each seed. Raises `InputError` for a retrieval of other queries than its data set's."""
    expected = queries[QUERY].to_numpy(object).tolist()
    for _, file in sorted(side.files.items()):
        ranks = schema.read(file, RETRIEVAL, [*QUERY, "rank"])
        answered = ranks[QUERY].to_numpy(object).tolist()
        if answered != expected:
            other = next((row for row, want in zip(answered, expected, strict=False) if row != want), "fewer or more")
            raise InputError(
                f"{file}: answers other queries than the first result, or than its data set has now; one of them is "
                f"{other}. Compare results with the same setting `sentences`; if images.parquet or captions.parquet "
                "changed since it was ranked, delete it and run snakemake again."
            )
        yield ranks


def _check_same_round(side: Retrievals) -> None:
    """Raises `InputError` if the seeds of a side end at different rounds, whose mean is that of no model."""
    if len({*side.rounds.values()}) > 1:
        ends = ", ".join(f"seed {seed} at {number}" for seed, number in sorted(side.rounds.items()))
        raise InputError(
            f"{side.of}: the seeds end at different rounds ({ends}); finish the run, or remove the files of rounds "
            "that the configuration no longer has."
        )


def _check_same_protocol(first: Retrievals, second: Retrievals) -> None:
    for name in ("dataset", "protocol"):
        ours, theirs = getattr(first.of, name), getattr(second.of, name)
        if ours != theirs:
            raise InputError(
                f"{first.of} and {second.of} differ in {name}: {ours} and {theirs}; compare results that have the same."
            )
    if first.of.protocol == "regions":
        raise InputError(f"{first.of}: regions and phrases are ranked here; compare rankings of images and sentences.")


def _check_same_dataset(first: Retrievals, second: Retrievals) -> None:
    """Raises `InputError` if two folders of a data set hold different images or sentences."""
    if first.folder == second.folder:
        return
    for name, kind in (("images", IMAGES), ("captions", CAPTIONS)):
        files = [side.folder / f"{name}.parquet" for side in (first, second)]
        rows = [schema.read(file, kind).drop(columns=["file"], errors="ignore") for file in files]
        if rows[0].equals(rows[1]):
            continue
        ours, theirs = (read_statement(file) for file in files)
        changed = differences({**ours.given, **ours.found}, {**theirs.given, **theirs.found})
        settings = "".join(f" They were made with {key} {one} and {other}." for key, (one, other) in changed.items())
        raise InputError(
            f"{files[0]} and {files[1]} hold different {name}.{settings} Compare results of the same data."
        )
