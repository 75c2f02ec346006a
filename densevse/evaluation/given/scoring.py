"""Blocks of given scores, or of the scores of given vectors, for `retrieve` and `evaluate`."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.matrices import Matrix
from densevse.artifacts.vectors import check_vectors
from densevse.config.given import GivenLayout
from densevse.evaluation.retrieval import Scorer
from densevse.evaluation.tiles import ScoreBlock
from densevse.evaluation.vectors import SeveralVectors, Vectors, max_sums, order_scores, products
from densevse.runtime.arrays import Indices
from snakeproof.errors import InputError

_UNSCORED: dict[str | None, Callable[[NDArray[Any]], NDArray[np.bool_]]] = {
    None: lambda scores: np.zeros(scores.shape, np.bool_),
    "nan": np.isnan,
    "-inf": np.isneginf,
}
LARGEST = 2.0**50
"""The largest number of a vector whose products, or squares of differences, float32 holds with any other's."""


class Aligned(NamedTuple):
    """A matrix, and the row or column of each image and each sentence in it."""

    matrix: Matrix
    rows: Indices
    columns: Indices
    by_sentence: bool = False  # true if its rows are sentences and its columns images


def score_blocks(scores: Aligned, layout: GivenLayout) -> Scorer:
    """Blocks of a matrix of scores, higher is closer. Pairs that the layout marks as unscored score minus infinity.

    A block raises `InputError` that names the row and column of a score that is not finite. Scores of float64 are
    ranked as they are: float32 would merge neighbours, and lose those below 1e-38.
    """

    def select_block(images: Indices, sentences: Indices) -> ScoreBlock:
        rows, columns = scores.rows[images], scores.columns[sentences]

        def score_block(image: slice, sentence: slice) -> NDArray[Any]:
            found = _read_values(scores, rows[image], columns[sentence], layout.unscored)
            if layout.lower_is_better:
                np.negative(found, out=found)
                found[found == np.inf] = -np.inf
            return found

        return score_block

    return select_block


def vector_blocks(images: Aligned, sentences: Aligned, layout: GivenLayout) -> Scorer:
    """Blocks of the similarities of vectors. A block raises `InputError` as `read_vectors` does."""

    def select_block(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        def score_block(image: slice, sentence: slice) -> Vectors:
            some_images = read_vectors(images, image_rows[image], layout)
            return similarities(some_images, read_vectors(sentences, sentence_rows[sentence], layout), layout)

        return score_block

    return select_block


def max_sum_scorers(images: Aligned, sentences: Aligned, layout: GivenLayout) -> tuple[Scorer, Scorer]:
    """Blocks of `max_sums` where images ask, and where sentences do; they raise errors as `read_several_vectors`."""
    of_sentences = _max_sum_blocks(images, sentences)
    of_query = layout.similarity == "max_sum_of_query"
    return _max_sum_blocks(sentences, images, by_image=True) if of_query else of_sentences, of_sentences


def _max_sum_blocks(chosen: Aligned, summed: Aligned, by_image: bool = False) -> Scorer:
    """Blocks of `max_sums`. With `by_image` the sum is over the vectors of images, and `chosen` are sentences."""

    def select_block(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        def score_block(image: slice, sentence: slice) -> Vectors:
            rows = image_rows[image], sentence_rows[sentence]
            sides = map(read_several_vectors, (chosen, summed), rows[::-1] if by_image else rows)
            return max_sums(*sides).T if by_image else max_sums(*sides)

        return score_block

    return select_block


def similarities(images: Vectors, sentences: Vectors, layout: GivenLayout) -> Vectors:
    """(I, S) scores of (I, D) and (S, D) vectors from `read_vectors`, at least one each."""
    return (order_scores if layout.similarity == "order" else products)(images, sentences)


def read_vectors(aligned: Aligned, items: Indices, layout: GivenLayout) -> Vectors:
    """(items, D) float32 vectors, of length 1 for the cosine.

    Raises `InputError` that names a row that is not finite, zero for the cosine, or out of range for the others.
    """
    rows = aligned.rows[items]
    vectors = _read_values(aligned, rows, aligned.columns, None)
    largest = np.abs(vectors).max(axis=1)
    if layout.similarity != "cosine":
        _check_range(aligned.matrix.name, rows, largest, str(layout.similarity))
        return vectors.astype(np.float32, copy=False)
    check_vectors(vectors, aligned.matrix.name, layout.similarity, rows)
    return _unit_vectors(vectors, largest)


def read_several_vectors(aligned: Aligned, items: Indices) -> SeveralVectors:
    """The float32 vectors of some items, of which zero vectors fill up the rows of the array and are none.

    Raises `InputError` that names a row without any vector, or with one that is not finite or out of range.
    """
    rows, name = aligned.rows[items], aligned.matrix.name
    vectors = _part(aligned.matrix.values, rows, np.arange(aligned.matrix.values.shape[1]))
    largest = np.abs(vectors).max(axis=2)
    wrong = {"has a number that is not finite; correct it": ~np.isfinite(largest).all(axis=1)}
    wrong["has zero vectors only, which are padding; give it one vector at least"] = ~largest.any(axis=1)
    for problem, found in wrong.items():
        if found.any():
            raise InputError(f"{name}: row {rows[found.argmax()]} {problem}.")
    _check_range(name, rows, largest.max(axis=1), "max_sum")
    there = largest > 0
    return SeveralVectors(vectors[there].astype(np.float32, copy=False), there.sum(axis=1))


def _unit_vectors(vectors: Vectors, largest: NDArray[Any]) -> Vectors:
    """The vectors with length 1, float32, made in place; `largest` are their largest numbers, none 0.

    The square of a length leaves float32 from 1e19 on and below 1e-19. So each vector is first multiplied by the power
    of two that makes its largest number about 1, which changes no digit.
    """
    furthest = -math.frexp(float(np.finfo(vectors.dtype).tiny))[1]  # the powers up to it have an inverse in this type
    power = np.frexp(largest)[1].clip(-furthest, furthest)
    vectors *= np.ldexp(np.ones((), vectors.dtype), -power)[:, None]
    unit = vectors.astype(np.float32, copy=False)
    unit /= np.sqrt(np.einsum("nd,nd->n", unit, unit))[:, None]
    return unit


def _check_range(name: str, rows: Indices, largest: NDArray[Any], similarity: str) -> None:
    """Raises `InputError` that names a vector whose largest number is so large or small that float32 loses scores."""
    wrong = np.flatnonzero((largest > LARGEST) | (largest < 1 / LARGEST) & (largest > 0))
    if len(wrong):
        raise InputError(
            f"{name}: the largest number of row {rows[wrong[0]]} is {largest[wrong[0]]:.1e}, and float32 cannot hold "
            f"the scores ({similarity}) of vectors with numbers beyond {LARGEST:.0e} or below {1 / LARGEST:.0e}. "
            "Multiply all vectors by one number, which changes no rank."
        )


def _read_values(aligned: Aligned, rows: Indices, columns: Indices, unscored: str | None) -> NDArray[Any]:
    """(rows, columns) of a matrix as float32, or float64 where the matrix has it."""
    values = aligned.matrix.values.T if aligned.by_sentence else aligned.matrix.values
    found = _part(values, rows, columns)
    with np.errstate(over="ignore", invalid="ignore"):  # a sum is finite if all its terms are; to test each costs more
        if np.isfinite(found.sum()):
            return found
    absent = _UNSCORED[unscored](found)
    wrong = np.argwhere(~(np.isfinite(found) | absent))
    if len(wrong):
        at = rows[wrong[0, 0]], columns[wrong[0, 1]]
        _refuse_number(aligned, at[::-1] if aligned.by_sentence else at, float(found[tuple(wrong[0])]))
    found[absent] = -np.inf
    return found


def _refuse_number(aligned: Aligned, at: tuple[int, int], value: float) -> None:
    name, kind = aligned.matrix.name, aligned.matrix.values.dtype
    if np.isnan(value):
        why = "not a number; correct it, or say by `unscored` that such pairs were not scored"
    elif kind == np.float16:
        why = f"{value}: float16 ends at 65,504; write float32"
    else:
        why = f"{value}, which cannot be ranked; correct it"
    raise InputError(f"{name}: row {at[0]}, column {at[1]} is {why}.")


def _part(values: NDArray[Any], rows: Indices, columns: Indices) -> NDArray[np.floating]:
    """A copy of some rows and columns, float32 or float64; consecutive ones are read in one piece."""
    row, column = _piece(rows), _piece(columns)
    scattered = isinstance(row, np.ndarray) and isinstance(column, np.ndarray)
    dtype = np.float64 if values.dtype.itemsize > 4 else np.float32
    with np.errstate(over="ignore"):  # numbers beyond float64 become infinite and are reported
        return np.array(values[np.ix_(rows, columns) if scattered else (row, column)], dtype, order="C")


def _piece(numbers: Indices) -> slice | Indices:
    """Consecutive numbers as a slice; others unchanged."""
    if len(numbers) and (np.diff(numbers) == 1).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers
