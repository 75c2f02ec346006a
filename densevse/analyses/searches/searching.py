"""Finds the best images for sentences, or sentences for images, among any number, in bounded memory.

Candidates come in tiles, and only the best answers are kept. So memory depends on the numbers of queries and answers,
not on the number of candidates.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.data.pairs import Pairs
from densevse.inference.encoding import batches, evaluation
from densevse.inference.scoring import scorer
from densevse.methods.interface import Encoding, Method, device_of, to_device
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError
from densevse.runtime.logs import progress

Ids: TypeAlias = NDArray[np.object_]
Scores: TypeAlias = NDArray[np.float32]
CompareEncodings: TypeAlias = Callable[[Encoding, Encoding], Scores]
"""Computes the (I, S) scores of encoded images and sentences."""

MOST_ROWS, MOST_BYTES = 4096, 2**26
"""The number of rows of a tile."""


class Side(Protocol):
    """Images or sentences, encoded on demand."""

    def __len__(self) -> int: ...

    def encoding(self, rows: Indices) -> Encoding:
        """The encoding of some of them."""
        ...


class SentencesOf:
    """The sentences of a split."""

    def __init__(self, method: Method, pairs: Pairs) -> None:
        self._method, self._pairs = method, pairs

    def __len__(self) -> int:
        return len(self._pairs.rows.caption_ids)

    def encoding(self, rows: Indices) -> Encoding:
        """The encoding of some of them."""
        device = device_of(self._method)
        with evaluation(self._method):
            return self._method.encode_sentences(to_device(self._pairs.sentences(rows), device))


class Answers(NamedTuple):
    """Answers to queries, in the order of the queries, best first."""

    query: Indices  # (answers,)
    row: Indices  # (answers,) the row of the answer among the candidates
    score: Scores  # (answers,)


def search(
    compare: CompareEncodings, images: Side, sentences: Side, asked: Literal["sentences", "photographs"], top: int
) -> Answers:
    """The `top` best answers to each query; `asked` is the side of the queries, and the other one is searched.

    Of equal scores the earlier row comes first. Raises `InputError` that names a query whose score is not a number.
    """
    queries, searched = (sentences, images) if asked == "sentences" else (images, sentences)
    best = Answers(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    tiles = _tiles(queries)
    for rows in progress(_tiles(searched), f"searching for {asked}"):
        found = searched.encoding(rows)
        for numbers in tiles:
            asking = queries.encoding(numbers)
            scores = compare(found, asking).T if asked == "sentences" else compare(asking, found)
            best = _best(best, _candidates(scores, numbers, rows, top, _bars(best, numbers, top)), top)
    return best


def found_rows(
    found: Answers,
    asked: Literal["sentences", "photographs"],
    image_ids: Ids,
    caption_ids: Ids,
    texts: Ids,
) -> pd.DataFrame:
    """The rows of a FOUND artifact, without unknown words, by the ids and texts of both sides."""
    image, sentence = (found.row, found.query) if asked == "sentences" else (found.query, found.row)
    return pd.DataFrame(
        {
            "query": found.query.astype(np.int32),
            "rank": (1 + np.arange(len(found.query)) - np.searchsorted(found.query, found.query)).astype(np.int32),
            "image_id": image_ids[image],
            "caption_id": caption_ids[sentence],
            "text": texts[sentence],
            "unknown_words": [[] for _ in found.row],
            "score": found.score,
        }
    )


def _tiles(side: Side) -> list[Indices]:
    """All rows of a side, in tiles, which are small for methods with large encodings."""
    row_bytes = sum(part.nbytes for part in side.encoding(np.zeros(1, np.int64)))
    return batches(len(side), min(MOST_ROWS, max(1, MOST_BYTES // row_bytes)))


def scores_by(method: Method, images: Encoding, sentences: Encoding) -> Scores:
    """The (I, S) scores of a method."""
    counts = len(images[0]), len(sentences[0])
    block = scorer(method, images, sentences)(*(np.arange(count) for count in counts))
    scores: Scores = block(*(slice(0, count) for count in counts)).float().cpu().numpy()
    return scores


def _bars(best: Answers, queries: Indices, top: int) -> Scores:
    """The score of each query's last answer, which a better one must exceed; minus infinity if places are free."""
    begin, end = (np.searchsorted(best.query, queries, side) for side in ("left", "right"))
    full = end - begin == top
    bars = np.full(len(queries), -np.inf, np.float32)
    bars[full] = best.score[end[full] - 1]
    return bars


def _candidates(scores: Scores, queries: Indices, rows: Indices, top: int, bars: Scores) -> Answers:
    """The (queries, rows) scores that may be among the `top` best: at least as high as the last of them.

    Nearly all are below the `bars` of earlier tiles, so few queries have more than `top` candidates.
    """
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        query = queries[int(finite.argmin())]
        raise InputError(f"query {query} (counted from 0): the model gives it a score that is not a number.")
    crowded = np.count_nonzero(scores >= bars[:, None], axis=1) > top
    if crowded.any():
        bars[crowded] = np.partition(scores[crowded], -top, axis=1)[:, -top]
    query, row = np.nonzero(scores >= bars[:, None])
    return Answers(queries[query], rows[row], scores[query, row])


def _best(some: Answers, others: Answers, top: int) -> Answers:
    """The `top` best of each query among two groups of answers."""
    query, row = (np.concatenate(parts) for parts in ((some.query, others.query), (some.row, others.row)))
    score = np.concatenate((some.score, others.score))
    order = np.lexsort((row, -score, query))
    place = np.arange(len(query)) - np.searchsorted(query[order], query[order])
    kept = order[place < top]
    return Answers(query[kept], row[kept], score[kept])
