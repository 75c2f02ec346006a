"""`make interval-coverage`: how often the project's 95% intervals contain the true value, as a table.

The intervals are those of densevse.statistics.intervals, on freshly generated scenes. The models are fixed. Each
predicts the words of a picture's sentences by ridge regression on the reduced picture; each has a different training
set, which stands for its seed. The truth is the mean over all test sets and, for means over seeds, over all models.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import cv2
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.evaluation.protocols import TestSet, full
from densevse.evaluation.recall import metrics_of
from densevse.evaluation.retrieval import retrieve
from densevse.report.sections import list_queries
from densevse.scenes.pictures import draw
from densevse.scenes.sentences import describe
from densevse.scenes.world import sample_family
from densevse.statistics.bootstrap import Interval
from densevse.statistics.intervals import interval_over_resplits
from densevse.statistics.rankings import RankBootstrap

SEEDS, RESPLITS, SIDE, SMALL, RIDGE = 3, 5, 48, 16, 30.0
Reals = NDArray[np.float32]


class StudySizes(NamedTuple):
    """Numbers and sizes of test sets, of models' training sets, and of bootstrap draws."""

    sets: int
    images: int
    models: int
    trained_on: int
    draws: int


FULL = StudySizes(150, images=200, models=12, trained_on=150, draws=500)
TOY = StudySizes(2, images=30, models=3, trained_on=6, draws=5)


class ScenePictures(NamedTuple):
    """Small pictures (images, numbers), the tokens of each image's five sentences, and each image's family."""

    pictures: Reals
    sentences: list[list[tuple[str, ...]]]
    families: list[str]


class WordModel(NamedTuple):
    """A linear model of words from a picture: weights (numbers + 1, words), and the numbers of the words."""

    weights: Reals
    words: dict[str, int]

    def scores(self, scenes: ScenePictures) -> torch.Tensor:
        """The cosine of each picture's predicted words with each sentence's: (images, sentences)."""
        predicted = _append_ones(scenes.pictures) @ self.weights
        said = _counts([tokens for texts in scenes.sentences for tokens in texts], self.words)
        return torch.from_numpy(_unit_vectors(predicted) @ _unit_vectors(said - said.mean(axis=0)).T)


def generate_scenes(images: int, seed: tuple[int, ...]) -> ScenePictures:
    """A number of images at least, in whole families."""
    random = np.random.default_rng(seed)
    pictures, sentences, families = [], [], []
    while len(pictures) < images:
        family = f"family{len(pictures)}"
        for scene in sample_family(random):
            pixels, _ = draw(scene, SIDE, random)
            pictures.append(cv2.resize(pixels, (SMALL, SMALL), interpolation=cv2.INTER_AREA).ravel() / 255)
            sentences.append([sentence.tokens for sentence in describe(scene, random)])
            families.append(family)
    return ScenePictures(np.array(pictures, np.float32), sentences, families)


def first_images(scenes: ScenePictures, images: int) -> ScenePictures:
    """The first images."""
    return select_images(scenes, range(images))


def select_images(scenes: ScenePictures, images: Iterable[int]) -> ScenePictures:
    """These images, in this order."""
    chosen = list(images)
    sentences, families = ([of[image] for image in chosen] for of in (scenes.sentences, scenes.families))
    return ScenePictures(scenes.pictures[chosen], sentences, families)


def fit_model(scenes: ScenePictures) -> WordModel:
    """Ridge regression of an image's mean sentence on its picture."""
    words = {word: number for number, word in enumerate(sorted({w for s in scenes.sentences for t in s for w in t}))}
    target = np.stack([_counts(texts, words).mean(axis=0) for texts in scenes.sentences])
    inputs = _append_ones(scenes.pictures)
    kernel = inputs @ inputs.T + RIDGE * np.eye(len(inputs), dtype=np.float32)
    return WordModel(inputs.T @ np.linalg.solve(kernel, target - target.mean(axis=0)), words)


class MeasuredSet(NamedTuple):
    """A test set: its draws in families and by image, and each model's ranks on it."""

    in_families: RankBootstrap
    by_image: RankBootstrap
    runs: list[pd.DataFrame]


def as_test_set(scenes: ScenePictures) -> TestSet:
    """Scenes as a test set."""
    images = len(scenes.families)
    names = np.array([f"image{image}" for image in range(images)], dtype=object)
    captions = np.array([f"{name}#{position}" for name in names for position in range(5)], dtype=object)
    return TestSet(names, captions, np.repeat(np.arange(images), 5), np.array(scenes.families, dtype=object))


def rank_scenes(model: WordModel, scenes: ScenePictures) -> pd.DataFrame:
    """A model's ranks on scenes."""
    scores, test_set = model.scores(scenes), as_test_set(scenes)
    return retrieve(lambda i, j: lambda a, b: scores[a, b], test_set, full(test_set))


def rank_test_set(models: Sequence[WordModel], number: int, sizes: StudySizes) -> MeasuredSet:
    """Ranks a fresh test set with every model."""
    scenes = generate_scenes(sizes.images, (1, number))
    test_set = as_test_set(scenes)
    queries, families = list_queries(test_set, full(test_set))
    runs = [rank_scenes(model, scenes) for model in models]
    by_image = [name.split("#")[0] for name in queries["query_id"]]
    drawn = (retrieval_bootstrap(queries, groups, sizes.draws) for groups in (families, by_image))
    return MeasuredSet(*drawn, runs)


def rows(sizes: StudySizes) -> Iterator[tuple[str, str, float, str]]:
    """Coverage in percent of intervals of rsum, of paired gains, of means over three seeds, and of resplits.

    A row is what the interval is of, the expected coverage, the measured one, and a note.
    """
    trained_on = [generate_scenes(sizes.trained_on, (0, seed)) for seed in range(sizes.models)]
    models = [fit_model(scenes) for scenes in trained_on]
    starts = [fit_model(first_images(scenes, 2 * sizes.trained_on // 3)) for scenes in trained_on]  # of the same seeds
    worse = fit_model(generate_scenes(sizes.trained_on // 3, (2, 0)))
    measured = [rank_test_set([*models, *starts, worse], number, sizes) for number in range(sizes.sets)]
    sums = np.array([[metrics_of(run)["rsum"] for run in one.runs] for one in measured])
    first, gain, mean = sums[:, 0].mean(), (sums[:, 0] - sums[:, -1]).mean(), sums[:, : sizes.models].mean()
    spread = sums[:, : sizes.models].mean(axis=0).std(ddof=1)
    note = f"{sizes.sets} test sets of {sizes.images} scenes; rsum {first:.1f}, "
    note += f"its deviation over test sets {sums[:, 0].std():.1f}"
    yield _row(
        "rsum of one model", note, [one.in_families.interval("rsum", _replicates(one, [0])) for one in measured], first
    )
    blind = [one.by_image.interval("rsum", _replicates(one, [0])) for one in measured]
    yield _row("the same, families not known", "images drawn one by one: too narrow", blind, first, "lower")
    pairs = [one.in_families.difference("rsum", _replicates(one, [0]), _replicates(one, [-1])) for one in measured]
    yield _row("gain of one model on another", f"paired; the gain is {gain:.1f}", pairs, gain)
    random = np.random.default_rng(3)
    chosen = [random.choice(sizes.models, SEEDS, replace=False) for _ in measured]
    note = f"models of different seeds deviate by {spread:.1f}"
    runs = [_replicates(one, seeds) for one, seeds in zip(measured, chosen, strict=True)]
    student = [one.in_families.interval("rsum", run) for one, run in zip(measured, runs, strict=True)]
    yield _row("mean over three seeds, Student", note, student, mean)
    drawn = [_seed_interval(one, seeds, random) for one, seeds in zip(measured, chosen, strict=True)]
    yield _row("mean over three seeds, bootstrap of seeds", "too narrow", drawn, mean, "lower")
    rise = mean - sums[:, sizes.models : -1].mean()
    before = [
        _replicates(one, [sizes.models + seed for seed in seeds]) for one, seeds in zip(measured, chosen, strict=True)
    ]
    risen = [one.in_families.difference("rsum", *pair) for one, *pair in zip(measured, runs, before, strict=True)]
    note = f"seeds are pairs; the gain is {rise:.1f}"
    yield _row("gain of a mean over three seeds on two thirds of its training set", note, risen, rise)
    yield from resplit_rows(sizes)


def resplit_rows(sizes: StudySizes) -> Iterator[tuple[str, str, float, str]]:
    """Coverage in percent of intervals of means over five resplits, each with five times as many images to train on."""
    data_sets = (generate_scenes(sizes.images, (4, number)) for number in range(sizes.sets))
    sums = np.array([[resplit_sums(scenes, seed) for seed in range(RESPLITS)] for scenes in data_sets])
    whole, gains = sums[..., 0], sums[..., 0] - sums[..., 1]
    corrected, of_gains = ([interval_over_resplits(one, 1 / 5) for one in of] for of in (whole, gains))
    note = f"{sizes.sets} data sets of {sizes.images} scenes"
    yield _row("mean rsum over five resplits", f"{note}; rsum {whole.mean():.1f}", corrected, whole.mean())
    plain = [interval_over_resplits(one, 0.0) for one in whole]
    yield _row("the same, plain Student", "shared images ignored: too narrow", plain, whole.mean(), "lower")
    note = f"on half of the training set; the gain is {gains.mean():.1f}"
    yield _row("mean gain over five resplits", note, of_gains, gains.mean())


def resplit_sums(scenes: ScenePictures, seed: int) -> tuple[float, float]:
    """The rsum on a random sixth of a data set: of a model of the rest, and of a model of half of the rest."""
    families = list(pd.Series(scenes.families).groupby(scenes.families).indices.values())
    shuffled = [families[number] for number in np.random.default_rng(seed).permutation(len(families))]
    tested = 1 + int(np.searchsorted(np.cumsum([len(of) for of in shuffled]), len(scenes.families) / 6))
    test, train = (select_images(scenes, np.concatenate(part)) for part in (shuffled[:tested], shuffled[tested:]))
    fitted = (fit_model(train), fit_model(first_images(train, len(train.families) // 2)))
    whole, half = (metrics_of(rank_scenes(model, test))["rsum"] for model in fitted)
    return whole, half


def _replicates(measured: MeasuredSet, models: Sequence[int]):  # type: ignore[no-untyped-def]
    return measured.in_families.replicates([measured.runs[model] for model in models])


def _seed_interval(measured: MeasuredSet, models: Sequence[int], random: np.random.Generator) -> Interval:
    """The interval of a bootstrap over seeds and images, with seeds drawn with replacement too."""
    each = np.array([_replicates(measured, [model]).drawn["rsum"] for model in models])
    draws = random.integers(len(models), size=(len(models), each.shape[1]))
    drawn = np.take_along_axis(each, draws, axis=0).mean(axis=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(low), float(high))


def _row(
    what: str, note: str, intervals: Sequence[Interval], truth: float, expected: str = "95"
) -> tuple[str, str, float, str]:
    held = 100 * np.mean([interval.low <= truth <= interval.high for interval in intervals])
    width = np.mean([interval.high - interval.low for interval in intervals])
    return what, expected, float(held), f"{note}; mean width {width:.1f}"


def _append_ones(pictures: Reals) -> Reals:
    return np.hstack([pictures, np.ones((len(pictures), 1), np.float32)])


def _counts(texts: Sequence[tuple[str, ...]], words: dict[str, int]) -> Reals:
    counts = np.zeros((len(texts), len(words)), np.float32)
    for row, tokens in zip(counts, texts, strict=True):
        for token in tokens:
            if token in words:
                row[words[token]] += 1
    return counts


def _unit_vectors(rows: Reals) -> Reals:
    unit: Reals = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit


def main() -> None:
    """Prints a row as soon as it is known."""
    print("| interval of | expected, % | contains the true value, % | note |", "|---|---|---:|---|", sep="\n")
    for what, expected, measured, note in rows(FULL):
        print(f"| {what} | {expected} | {measured:.0f} | {note} |", flush=True)


if __name__ == "__main__":
    main()
