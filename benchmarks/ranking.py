"""Ranking 5,000 images against 25,000 sentences at 1024-d, both ways, against its one matrix product; its memory."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from benchmarks._memory import extra_anonymous_memory
from benchmarks._timing import times_as_fast
from densevse.evaluation.given.measure import numbered_test
from densevse.evaluation.ranks import evaluate
from densevse.evaluation.retrieval import retrieve

PER_IMAGE = 5


class Sizes(NamedTuple):
    """Images of the test set and of a larger one, the size of vectors and tiles, and the number of repetitions."""

    images: int
    larger: int
    dimension: int
    block: int
    pairs: int


FULL = Sizes(5000, 12_000, dimension=1024, block=1000, pairs=5)
TOY = Sizes(4, 5, dimension=3, block=3, pairs=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    images = torch.randn(sizes.images, sizes.dimension)
    sentences = torch.randn(PER_IMAGE * sizes.images, sizes.dimension)

    def rank() -> None:
        owner = torch.arange(len(sentences)) // PER_IMAGE
        evaluate(lambda i, j: images[i] @ sentences[j].T, owner, sizes.images, sizes.block)

    def product() -> None:
        for some in images.split(sizes.block):
            some @ sentences.T

    ratio = 1 / times_as_fast(rank, product, sizes.pairs)
    what = f"ranks of {sizes.images:,} x {PER_IMAGE * sizes.images:,} at {sizes.dimension}-d"
    return [
        (f"{what} / its matrix product", "<= 1.3", ratio, f"median of {sizes.pairs} pairs, in turns"),
        *_memory_rows(sizes.images, "<= 80"),
        *_memory_rows(sizes.larger, "<= 150"),
    ]


def _memory_rows(images: int, target: str) -> list[tuple[str, str, float, str]]:
    """The memory of ranking small vectors, without and with the best candidates."""
    test = numbered_test(images, np.repeat(np.arange(images), PER_IMAGE), "full")
    vectors = torch.randn(images, 8), torch.randn(PER_IMAGE * images, 8)

    def score(i: slice, j: slice) -> torch.Tensor:
        return vectors[0][i] @ vectors[1][j].T

    ways: dict[str, Callable[[], object]] = {
        "evaluate": lambda: evaluate(score, torch.from_numpy(test.rows.image_of_caption), images),
        "retrieve": lambda: retrieve(lambda *_: score, test.rows, test.folds),
    }
    note = "the most anonymous memory above that before"
    return [
        (f"{name} {images:,} x {PER_IMAGE * images:,}: extra memory, MB", target, extra_anonymous_memory(way), note)
        for name, way in ways.items()
    ]
