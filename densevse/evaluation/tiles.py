"""The score matrix of a test set in tiles: each score is computed exactly once, and memory holds one tile.

Sentences are in the order of their images, so the true pairs lie on the diagonal of the score matrix. The tiles on the
diagonal are computed first. Scores are NumPy arrays, or torch tensors on any device.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from densevse.runtime.arrays import Indices, as_array
from snakeproof.errors import InputError

ScoreBlock: TypeAlias = Callable[[slice, slice], Any]
"""Returns the scores (images of a slice, sentences of a slice), as an array or a tensor; higher is closer."""

Comparison: TypeAlias = Literal["ge", "eq"]
"""At least as high as another score, or equal."""
BLOCK = 500  # images of a tile


@dataclass(frozen=True)
class Tile:
    """Scores of consecutive images with consecutive sentences; `diagonal` tiles hold all their true pairs."""

    images: slice
    sentences: slice
    scores: Any  # (images, sentences): an array of float32 or float64, or a tensor of float32
    diagonal: bool


def tiles(score_block: ScoreBlock, image_of_sentence: Indices, images: int, block: int) -> Iterator[Tile]:
    """Yields the tiles of the score matrix, those on the diagonal first. Raises as `densevse.evaluation.ranks` does."""
    _check_order(image_of_sentence, images)
    starts = list(range(0, images, block))
    bounds = np.searchsorted(image_of_sentence, [*starts, images]).tolist()
    rows = [slice(start, min(start + block, images)) for start in starts]
    columns = [slice(first, last) for first, last in pairwise(bounds)]
    blocks = range(len(rows))
    on_diagonal = [(i, i) for i in blocks]
    elsewhere = [(i, j) for i in blocks for j in blocks if i != j]
    places = [(i, j) for i, j in (*on_diagonal, *elsewhere) if columns[j].start < columns[j].stop]
    total: Any = 0.0
    for i, j in places:
        scores = _scores(score_block, rows[i], columns[j])
        with np.errstate(over="ignore", invalid="ignore"):
            total = total + scores.sum()
        yield Tile(rows[i], columns[j], scores, i == j)
    # A sum is NaN if a term is NaN (or if infinities cancel), which is cheaper than testing every score. It is tested
    # after the last tile, so that the host waits for a GPU once; a sum kept of each tile would split the heap.
    if total != total:
        for i, j in places:
            _check_numbers(_scores(score_block, rows[i], columns[j]), rows[i], columns[j])


def _check_order(image_of_sentence: Indices, images: int) -> None:
    if len(image_of_sentence) == 0:
        raise ValueError("there is no sentence to rank")
    if (np.diff(image_of_sentence) < 0).any() or image_of_sentence[0] < 0 or image_of_sentence[-1] >= images:
        raise ValueError(f"image_of_sentence must be ascending and within 0..{images - 1}: sort sentences by image")


def _scores(score_block: ScoreBlock, rows: slice, columns: slice) -> Any:
    scores = score_block(rows, columns)
    expected = (rows.stop - rows.start, columns.stop - columns.start)
    if tuple(scores.shape) != expected:
        raise ValueError(f"score_block({rows}, {columns}) returned {tuple(scores.shape)} instead of {expected} scores")
    if not isinstance(scores, np.ndarray):
        if scores.dtype.itemsize <= 4:
            return scores.detach().float()
        scores = as_array(scores)  # a tensor of float64 is ranked as an array
    return scores.astype(np.promote_types(scores.dtype, np.float32), copy=False)


def _check_numbers(scores: Any, rows: slice, columns: slice) -> None:
    wrong = np.argwhere(np.isnan(as_array(scores)))
    if len(wrong):
        image, sentence = wrong[0].tolist()
        raise InputError(
            f"The score of image {rows.start + image} with sentence {columns.start + sentence} is not a number. "
            "Either the features hold such a value or the training diverged: lower its learning rate."
        )
