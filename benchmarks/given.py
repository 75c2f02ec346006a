"""Ranking given scores of 5,000 images and 25,000 sentences, against `retrieve` of vectors: time and memory."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks._memory import extra_anonymous_memory
from benchmarks._timing import times_as_fast
from densevse.config.given import GivenLayout
from densevse.evaluation.given.measure import numbered_test
from densevse.evaluation.given.retrieval import GivenTest, scorers
from densevse.evaluation.retrieval import retrieve, retrieve_by_direction
from densevse.evaluation.tiles import BLOCK, ScoreBlock
from densevse.evaluation.vectors import SeveralVectors, max_sums
from densevse.runtime.arrays import Indices

PER_IMAGE = 5


class Sizes(NamedTuple):
    """Images of the test set, of a larger one and of several vectors; the size of vectors; how often each is ranked."""

    images: int
    larger: int
    dimension: int
    pairs: int
    several: int


FULL = Sizes(5000, 12_000, dimension=1024, pairs=3, several=1000)
TOY = Sizes(30, 40, dimension=4, pairs=1, several=10)
VECTORS = 32
"""The vectors of each image and each sentence, where they have several."""


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    with tempfile.TemporaryDirectory() as folder:
        vectors = _vectors(sizes.images, sizes.dimension)
        given, test = _given(Path(folder), *vectors), _test(sizes.images)

        def trained() -> None:
            retrieve(_scorer(*vectors), test.rows, test.folds)

        ratio = 1 / times_as_fast(given, trained, sizes.pairs)
        memory = extra_anonymous_memory(given)
        larger = extra_anonymous_memory(_given(Path(folder), *_vectors(sizes.larger, sizes.dimension)))
    sums, mteb = _max_sums(sizes)
    faster = 1 / times_as_fast(sums, mteb, sizes.pairs)
    smaller = extra_anonymous_memory(sums) / extra_anonymous_memory(mteb)
    several = f"max_sum of {sizes.several} x {sizes.several * PER_IMAGE}, {VECTORS} vectors each / mteb's max_sim"
    what, much = (f"given scores of {n:,} x {PER_IMAGE * n:,}" for n in (sizes.images, sizes.larger))
    note = "the most beside the mapped file, above that before"
    return [
        (
            f"{what} / retrieve of {sizes.dimension}-d vectors",
            "<= 1",
            ratio,
            f"median of {sizes.pairs} pairs, in turns",
        ),
        (f"{what}: anonymous memory, MB", "<= 80", memory, note),
        (f"{much}: anonymous memory, MB", "<= 150", larger, note),
        (several, "<= 1.2", faster, f"median of {sizes.pairs} pairs, in turns"),
        (f"{several}: anonymous memory", "<= .8", smaller, note),
    ]


def _max_sums(sizes: Sizes) -> tuple[Callable[[], None], Callable[[], None]]:
    """Scores of several vectors each by ours, and by mteb's function, which has them of 128 dimensions."""
    from mteb.similarity_functions import max_sim

    generator = torch.Generator().manual_seed(0)
    images, sentences = (
        torch.randn(count, VECTORS, 128, generator=generator) for count in (sizes.several, sizes.several * PER_IMAGE)
    )

    def sum_best() -> None:
        sides = (SeveralVectors(one.flatten(0, 1).numpy(), np.full(len(one), VECTORS)) for one in (images, sentences))
        max_sums(*sides)

    def sum_by_mteb() -> None:
        max_sim(sentences, images)

    return sum_best, sum_by_mteb


def _given(folder: Path, images: Tensor, sentences: Tensor) -> Callable[[], None]:
    """Writes the scores of vectors into a file of `folder`, and returns what ranks them."""
    path, test = folder / "scores.npy", _test(len(images))
    _write_scores(path, images, sentences)

    def rank() -> None:
        retrieve_by_direction(*scorers({"scores": str(path)}, GivenLayout(), test, folder), test.rows, test.folds)

    return rank


def _test(images: int) -> GivenTest:
    return numbered_test(images, np.repeat(np.arange(images), PER_IMAGE), "full")


def _vectors(images: int, dimension: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    of_images = torch.randn(images, dimension, generator=generator)
    return of_images, torch.randn(PER_IMAGE * images, dimension, generator=generator)


def _write_scores(path: Path, images: Tensor, sentences: Tensor) -> None:
    shape = (len(images), len(sentences))
    file = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for start in range(0, len(images), BLOCK):
        file[start : start + BLOCK] = (images[start : start + BLOCK] @ sentences.T).numpy()
    file.flush()


def _scorer(images: Tensor, sentences: Tensor) -> Callable[[Indices, Indices], ScoreBlock]:
    def of_rows(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        some_images, some_sentences = images[image_rows], sentences[sentence_rows]
        return lambda i, j: some_images[i] @ some_sentences[j].T

    return of_rows
