"""Ranks and the best candidates of scores that are NumPy arrays.

`densevse.evaluation.in_torch` has the same of tensors, which stay on their device. Ranks, ties and candidates of both
are equal (`tests/evaluation/test_libraries.py`).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densevse.evaluation.tiles import Tile
from densevse.runtime.arrays import Indices


class RankCounter:
    """Counts, tile by tile, the candidates before each query's truth. Diagonal tiles must come first."""

    def __init__(self, image_of_sentence: Indices, images: int, scores: NDArray[Any]) -> None:
        """`scores` are those of the first tile, whose type the thresholds have."""
        sentences = len(image_of_sentence)
        self._image_of_sentence = image_of_sentence
        self._best_sentence = np.full(images, -math.inf, scores.dtype)  # score of each image's best true sentence
        self._true_image = np.full(sentences, -math.inf, scores.dtype)  # score of each sentence's image
        self._sentences_before = np.ones(images, np.int64)
        self._images_before = np.zeros(sentences, np.int64)  # the truth itself is counted with the others

    def add(self, tile: Tile) -> None:
        """Compares every score of a tile with the thresholds of its row and its column."""
        if tile.diagonal:
            self._learn_thresholds(tile)
        not_below = tile.scores >= self._best_sentence[tile.images, None]
        self._sentences_before[tile.images] += np.count_nonzero(not_below, axis=1)
        not_below = tile.scores >= self._true_image[tile.sentences]
        self._images_before[tile.sentences] += np.count_nonzero(not_below, axis=0)

    def ranks(self) -> tuple[Indices, Indices]:
        """The ranks of the images with a sentence, and of the sentences, after every tile was added."""
        return self._sentences_before[self._asking_images()], self._images_before

    def _asking_images(self) -> Indices:
        """The images with a sentence."""
        return np.unique(self._image_of_sentence)

    def _learn_thresholds(self, tile: Tile) -> None:
        image = self._image_of_sentence[tile.sentences]
        true = tile.scores[image - tile.images.start, np.arange(len(image))]
        self._true_image[tile.sentences] = true
        np.maximum.at(self._best_sentence, image, true)
        # The best true sentences are not wrong candidates, so they are subtracted from the count.
        np.subtract.at(self._sentences_before, image, true == self._best_sentence[image])


class TieCounter(RankCounter):
    """Also counts the wrong candidates that score exactly as each query's best true one."""

    def __init__(self, image_of_sentence: Indices, images: int, scores: NDArray[Any]) -> None:
        super().__init__(image_of_sentence, images, scores)
        self._same_sentences = np.zeros_like(self._sentences_before)
        self._same_images = np.zeros_like(self._images_before)

    def add(self, tile: Tile) -> None:
        """Compares every score of a tile with the thresholds of its row and its column."""
        super().add(tile)
        same = tile.scores == self._best_sentence[tile.images, None]
        self._same_sentences[tile.images] += np.count_nonzero(same, axis=1)
        same = tile.scores == self._true_image[tile.sentences]
        self._same_images[tile.sentences] += np.count_nonzero(same, axis=0)

    def ties(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The queries of each direction with a tie, after every tile was added."""
        best = self._true_image == self._best_sentence[self._image_of_sentence]
        own = np.bincount(self._image_of_sentence, best, len(self._same_sentences))
        return (self._same_sentences > own)[self._asking_images()], self._same_images > 1


class TopCandidates:
    """The `top` best candidates of each query, from tiles in any order; equal scores keep the candidates' order."""

    def __init__(self, queries: int, candidates: int, top: int) -> None:
        # No score is below minus infinity, and no candidate behind this one, so that these give way to any other.
        self._scores = np.full((queries, min(top, candidates)), -math.inf)
        self._candidates = np.full(self._scores.shape, np.iinfo(np.int64).max)

    def add(self, queries: slice, candidates: slice, scores: NDArray[Any]) -> None:
        """Adds the `scores` (queries, candidates) of consecutive queries with consecutive candidates."""
        kept, names = self._scores[queries], self._candidates[queries]
        query, column = _top_places(np.ascontiguousarray(scores), kept[:, -1].astype(scores.dtype), kept.shape[1])
        old_query = np.repeat(np.arange(len(kept)), kept.shape[1])
        query_of = np.concatenate((old_query, query))
        score = np.concatenate((kept.ravel(), scores[query, column]))
        name = np.concatenate((names.ravel(), candidates.start + column))
        order = np.lexsort((name, -score, query_of))
        place = np.arange(len(order)) - np.searchsorted(query_of[order], query_of[order])
        first = order[place < kept.shape[1]]
        self._scores[queries] = score[first].reshape(kept.shape)
        self._candidates[queries] = name[first].reshape(kept.shape)

    def top_candidates(self) -> tuple[Indices, NDArray[np.float32]]:
        """Candidates and scores, best first: both (queries, at most `top`). Scores are rounded to float32."""
        with np.errstate(over="ignore"):
            return self._candidates, self._scores.astype(np.float32)


def _top_places(scores: NDArray[Any], bars: NDArray[Any], top: int) -> tuple[Indices, Indices]:
    """The places (query, column) of scores that may be among the `top` best, at most 2 `top` - 1 of a query.

    `bars` are the scores of the last ones so far. After the first tiles, nearly all scores are below them.
    """
    reaches = scores >= bars[:, None]
    crowded = np.flatnonzero(np.count_nonzero(reaches, axis=1) > top)
    if len(crowded):
        some = scores[crowded]
        bar = np.partition(some, -top, axis=1)[:, -top, None]
        equal = some == bar  # of these, the first ones are enough
        tied = np.count_nonzero(equal, axis=1) > 1
        equal[tied] &= np.cumsum(equal[tied], axis=1, dtype=np.int32) <= top
        reaches[crowded] = (some > bar) | equal
    query, column = np.divmod(np.flatnonzero(reaches), scores.shape[1])
    return query, column
