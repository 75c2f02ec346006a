"""Searches: finds the best images for sentences, or sentences for images, among any number, in bounded memory.

Candidates come in tiles, and only the best answers are kept. So memory depends on the numbers of queries and answers,
not on the number of candidates.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.data.distinct import Distinct
from densevse.data.ragged import Ragged
from densevse.evaluation.in_numpy import TopCandidates, top_rows
from densevse.methods.interface import Embeddings, Encoding, Method
from densevse.models.encoding import batches
from densevse.models.scoring import score_in_tiles
from densevse.runtime.arrays import Indices, as_array
from snakeproof.errors import InputError
from snakeproof.logs import progress

Asked: TypeAlias = Literal["sentences", "photographs"]
"""The kind of the queries; the other kind is searched."""
Scores: TypeAlias = NDArray[np.float32]
CompareEncodings: TypeAlias = Callable[[Encoding, Encoding], Scores]
"""Computes the (I, S) scores of encoded images and sentences."""
Tile: TypeAlias = tuple[Indices, Encoding]
"""Consecutive rows, and their encoding."""

MOST_ROWS, MOST_BYTES = 4096, 2**26
"""The number of rows of a tile."""

KEPT_BYTES = 2**28
"""Encodings of queries that are kept; where there are more, the candidates are encoded again for each such part."""


class Side(Protocol):
    """Images or sentences, encoded on demand."""

    @property
    def distinct(self) -> Distinct:
        """They as kinds of equal ones; a kind is encoded and scored once."""
        ...

    def encoding(self, rows: Indices) -> Encoding:
        """The encoding of some of them."""
        ...


@dataclass(frozen=True)
class EncodedRows:
    """Images or sentences that are encoded already."""

    vectors: Tensor  # (rows, dimension)

    @cached_property
    def distinct(self) -> Distinct:
        """The rows as kinds of equal vectors."""
        return Distinct.from_contents(as_array(self.vectors))

    def encoding(self, rows: Indices) -> Encoding:
        """The vectors of some of them."""
        return Embeddings(self.vectors[torch.from_numpy(rows).to(self.vectors.device)])


class Answers(NamedTuple):
    """Answers to queries, in the order of the queries, best first."""

    query: Indices  # (answers,)
    row: Indices  # (answers,) the row of the answer among the candidates
    score: Scores  # (answers,)

    @property
    def rank(self) -> NDArray[np.int32]:
        """(answers,) the rank of each among those to its query, from 1."""
        return (1 + np.arange(len(self.query)) - np.searchsorted(self.query, self.query)).astype(np.int32)


def search(compare: CompareEncodings, images: Side, sentences: Side, asked: Asked, top: int) -> Answers:
    """The `top` best answers to each query.

    Each query is encoded once, and each candidate once for all queries whose encodings are kept together (see
    `KEPT_BYTES`); equal ones are one. Of equal scores the earlier row comes first. Raises `InputError` that names a
    query whose score is not a number.
    """
    queries, searched = (sentences, images) if asked == "sentences" else (images, sentences)

    def score(asking: Encoding, candidates: Encoding) -> Scores:
        return compare(candidates, asking).T if asked == "sentences" else compare(asking, candidates)

    parts = [_answers(score, group, queries, searched, top) for group in _tile_groups(queries)]
    found = Answers(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    return _repeat_queries(_repeat_answers(found, searched.distinct, top), queries.distinct)


def _tile_groups(side: Side) -> Iterator[list[Tile]]:
    """The distinct rows of a side, encoded, in groups of tiles that take at most `KEPT_BYTES` and one tile."""
    group: list[Tile] = []
    for rows in _tiles(side):
        group.append((rows, side.encoding(side.distinct.first[rows])))
        if sum(part.nbytes for _, encoding in group for part in encoding) >= KEPT_BYTES:
            yield group
            group = []
    if group:
        yield group


def _answers(score: CompareEncodings, group: Sequence[Tile], queries: Side, searched: Side, top: int) -> Answers:
    """The best of the distinct answers to the distinct queries of some tiles.

    `score` returns (queries, candidates).
    """
    first, end = group[0][0][0], group[-1][0][-1] + 1
    best = TopCandidates(end - first, len(searched.distinct), top)
    for rows in progress(_tiles(searched), "search"):
        candidates = searched.encoding(searched.distinct.first[rows])
        for numbers, asking in group:
            scores = score(asking, candidates)
            _check_finite(scores, queries.distinct.first[numbers])
            best.add(_span(numbers - first), _span(rows), scores)
    found, scores = best.top_candidates()
    return Answers(np.repeat(np.arange(first, end), found.shape[1]), found.ravel(), scores.ravel())


def _repeat_answers(found: Answers, candidates: Distinct, top: int) -> Answers:
    """The `top` best answers, from those among distinct candidates: equal ones have one score, and follow by row."""
    row, answer = candidates.rows_of(found.row)
    query, score = found.query[answer], found.score[answer]
    best = top_rows(query, score, row, top)
    return Answers(query[best], row[best], score[best])


def _repeat_queries(found: Answers, queries: Distinct) -> Answers:
    """The answers to every query, from those to distinct ones."""
    lists = Ragged.from_lengths(np.bincount(found.query, minlength=len(queries)))
    answer, query, _ = lists.take(queries.row)
    return Answers(query, found.row[answer], found.score[answer])


def _span(rows: Indices) -> slice:
    """Consecutive numbers as a slice."""
    return slice(int(rows[0]), int(rows[-1]) + 1)


def _tiles(side: Side) -> list[Indices]:
    """The distinct rows of a side, in tiles, which are small for methods with large encodings."""
    row_bytes = sum(part.nbytes for part in side.encoding(np.zeros(1, np.int64)))
    return batches(len(side.distinct), min(MOST_ROWS, max(1, MOST_BYTES // row_bytes)))


def score_encodings(method: Method, images: Encoding, sentences: Encoding) -> Scores:
    """The (I, S) scores of a method, of distinct images and sentences."""
    scores: Scores = score_in_tiles(method, images, sentences).float().cpu().numpy()
    return scores


def _check_finite(scores: Scores, queries: Indices) -> None:
    """Raises `InputError` for a query of which a score is not a number; `scores` are (queries, candidates)."""
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        query = queries[int(finite.argmin())]
        raise InputError(f"query {query} (counted from 0): the model gives it a score that is not a number.")
