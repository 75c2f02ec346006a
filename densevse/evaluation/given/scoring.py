"""Blocks of given scores, or of the scores of given vectors, for `retrieve` and `evaluate`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from densevse.artifacts.matrices import Matrix
from densevse.config.given import GivenLayout
from densevse.evaluation.ranks import ScoreBlock
from densevse.evaluation.retrieval import Scorer
from densevse.evaluation.tiled import products, tiled
from densevse.kernels.order import order_scores
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError

_UNSCORED: dict[str | None, Callable[[Tensor], Tensor]] = {
    None: lambda scores: torch.zeros_like(scores, dtype=torch.bool),
    "nan": torch.isnan,
    "-inf": torch.isneginf,
}


class Aligned(NamedTuple):
    """A matrix, and the row or column of each image and each sentence in it."""

    matrix: Matrix
    rows: Indices
    columns: Indices
    by_sentence: bool = False  # true if its rows are sentences and its columns images


def score_blocks(scores: Aligned, unscored: str | None) -> Scorer:
    """Blocks of a matrix of scores. Pairs marked as `unscored` score minus infinity.

    A block raises `InputError` that names the row and column of a score that is not finite.
    """

    def of_rows(images: Indices, sentences: Indices) -> ScoreBlock:
        rows, columns = scores.rows[images], scores.columns[sentences]

        def score_block(image: slice, sentence: slice) -> Tensor:
            return _read(scores, rows[image], columns[sentence], unscored)

        return score_block

    return of_rows


def vector_blocks(images: Aligned, sentences: Aligned, layout: GivenLayout) -> Scorer:
    """Blocks of the similarities of vectors. A block raises `InputError` that names a row that is not finite."""

    def of_rows(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        def score_block(image: slice, sentence: slice) -> Tensor:
            some_images = read_vectors(images, image_rows[image], layout)
            return similarities(some_images, read_vectors(sentences, sentence_rows[sentence], layout), layout)

        return score_block

    return of_rows


def similarities(images: Tensor, sentences: Tensor, layout: GivenLayout) -> Tensor:
    """(I, S) scores of (I, D) and (S, D) vectors from `read_vectors`, at least one each."""
    return tiled(order_scores if layout.similarity == "order" else products, images, sentences)


def read_vectors(aligned: Aligned, items: Indices, layout: GivenLayout) -> Tensor:
    """(items, D) vectors, of length 1 for the cosine. Raises `InputError` that names a row not finite, or zero."""
    rows = aligned.rows[items]
    vectors = _read(aligned, rows, aligned.columns, None)
    if layout.similarity != "cosine":
        return vectors
    zero = torch.nonzero(~vectors.any(dim=1))
    if len(zero):
        raise InputError(f"{aligned.matrix.name}: row {rows[zero[0, 0]]} is zero, which has no cosine; correct it.")
    return functional.normalize(vectors, dim=1)


def _read(aligned: Aligned, rows: Indices, columns: Indices, unscored: str | None) -> Tensor:
    """(rows, columns) of a matrix as float32."""
    values = aligned.matrix.values.T if aligned.by_sentence else aligned.matrix.values
    found = torch.from_numpy(_part(values, rows, columns))
    # A sum is finite if all its terms are; testing every term costs more.
    if np.isfinite(found.sum().item()):
        return found
    absent = _UNSCORED[unscored](found)
    wrong = torch.nonzero(~(torch.isfinite(found) | absent))
    if len(wrong):
        at = rows[wrong[0, 0]], columns[wrong[0, 1]]
        _refuse(aligned, at[::-1] if aligned.by_sentence else at, found[tuple(wrong[0])].item())
    return found.masked_fill_(absent, -torch.inf)


def _refuse(aligned: Aligned, at: tuple[int, int], value: float) -> None:
    name, kind = aligned.matrix.name, aligned.matrix.values.dtype
    if np.isnan(value):
        why = "not a number; correct it, or say by `unscored` that such pairs were not scored"
    elif kind == np.float16:
        why = f"{value}: float16 ends at 65,504; write float32"
    else:
        why = f"{value}, which cannot be ranked as float32; correct it"
    raise InputError(f"{name}: row {at[0]}, column {at[1]} is {why}.")


def _part(values: NDArray[Any], rows: Indices, columns: Indices) -> NDArray[np.float32]:
    """A copy of some rows and columns; consecutive ones are read in one piece."""
    row, column = _piece(rows), _piece(columns)
    scattered = isinstance(row, np.ndarray) and isinstance(column, np.ndarray)
    with np.errstate(over="ignore"):  # numbers beyond float32 become infinite and are reported
        return np.array(values[np.ix_(rows, columns) if scattered else (row, column)], np.float32, order="C")


def _piece(numbers: Indices) -> slice | Indices:
    """Consecutive numbers as a slice; others unchanged."""
    if len(numbers) and (np.diff(numbers) == 1).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers
