"""Ranking given scores of 5,000 images and 25,000 sentences, against `retrieve` of vectors: time and memory."""

import ctypes
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks._timing import times_as_fast
from benchmarks.ranking import status
from densevse.config.given import GivenLayout
from densevse.evaluation.given.measure import numbered_test
from densevse.evaluation.given.retrieval import given_rankings
from densevse.evaluation.ranks import BLOCK, ScoreBlock
from densevse.evaluation.retrieval import retrieve
from densevse.runtime.arrays import Indices

PER_IMAGE = 5
SAMPLED = 0.005
"""Seconds between two readings of the memory."""


class Sizes(NamedTuple):
    """Of the test set and its vectors, and how often it is ranked."""

    images: int
    dimension: int
    pairs: int


FULL = Sizes(5000, dimension=1024, pairs=3)
TOY = Sizes(30, dimension=4, pairs=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    images, dimension, pairs = sizes
    test = numbered_test(images, np.repeat(np.arange(images), PER_IMAGE), "full")
    vectors = _vectors(images, dimension)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.npy")
        _write_scores(path, *vectors)

        def given() -> None:
            given_rankings({"scores": str(path)}, GivenLayout(), test, Path(folder))

        def trained() -> None:
            retrieve(_scorer(*vectors), test.rows, test.folds)

        ratio = 1 / times_as_fast(given, trained, pairs)
        memory = extra_anonymous_memory(given)
    what = f"given scores of {images:,} x {PER_IMAGE * images:,}"
    return [
        (f"{what} / retrieve of {dimension}-d vectors", "<= 1", ratio, f"median of {pairs} pairs, in turns"),
        (f"{what}: anonymous memory, MB", "<= 150", memory, "the most beside the mapped file, above that before"),
    ]


def extra_anonymous_memory(work: Callable[[], None]) -> float:
    """MB by which the anonymous memory of this process rises above its value before (Linux)."""
    ctypes.CDLL(None).malloc_trim(0)
    before, done, found = status("RssAnon"), threading.Event(), [0]

    def look() -> None:
        while not done.wait(SAMPLED):
            found.append(status("RssAnon") - before)

    watcher = threading.Thread(target=look)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return max(found) / 1024


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
