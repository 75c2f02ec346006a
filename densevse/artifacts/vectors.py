"""Vectors from outside, as files, searches and programs have them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.boxes import Problems
from snakeproof.errors import InputError

FEWEST = 10
"""The number of vectors from which one constant is refused."""
_AT_ONCE = 4096


def find_wrong_vectors(vectors: NDArray[Any], similarity: str | None = None) -> Problems:
    """The vectors (n, D) that are not finite, and those that are zero, which have no cosine."""
    parts = (vectors[start : start + _AT_ONCE] for start in range(0, len(vectors), _AT_ONCE))
    largest = np.concatenate([np.abs(part).max(axis=1, initial=0) for part in parts])
    problems = {"has a number that is not finite": ~np.isfinite(largest)}
    return problems | ({"is zero, which has no cosine": largest == 0} if similarity == "cosine" else {})


def check_vectors(
    vectors: NDArray[Any], name: str, similarity: str | None, rows: NDArray[np.int64] | None = None
) -> None:
    """Raises `InputError` for the first of `find_wrong_vectors`, by its row, or by its number in `rows`."""
    for problem, wrong in find_wrong_vectors(vectors, similarity).items():
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(f"{name}: row {row if rows is None else rows[row]} {problem}; correct it.")


def refuse_constant_vectors(vectors: Iterable[NDArray[Any]], name: str) -> None:
    """Raises `InputError` if ten or more vectors, or blocks of some, are all the same. Reads up to the first other."""
    count, first = 0, np.empty(0)
    for count, vector in enumerate(vectors, start=1):
        first = np.atleast_2d(vector if count == 1 else first)
        of_blocks = vector.shape[1:] == first.shape[1:] and len(np.unique((*first, *vector), axis=0)) == 1
        if not (np.array_equal(np.atleast_2d(vector), first) or of_blocks):  # images have other numbers of regions
            return
    if count >= FEWEST:
        raise InputError(
            f"{name}: all {count:,} vectors are the same, so that nothing can be told apart; compute them again."
        )


def count_zeros(vectors: NDArray[Any], rows: NDArray[np.int64]) -> int:
    """The number of zero vectors among some `rows` of (n, D) vectors."""
    parts = (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
    return sum(int((~np.asarray(vectors[part]).any(axis=1)).sum()) for part in parts)
