"""Ranks all queries in both directions, in one pass over the scores in tiles.

    ranks = evaluate(score_block, image_of_sentence, images=1000)
    metrics(ranks)["rsum"]

The tiles on the diagonal give each query a threshold: the score of its best true candidate. Then every other tile is
compared with the thresholds of its rows and columns, and discarded. Each score is computed exactly once, so equal
scores are ties bit for bit, and memory holds one tile.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from densevse.evaluation.in_numpy import ArrayOperations, TopCandidates
from densevse.evaluation.recall import recall_metrics
from densevse.evaluation.tiles import BLOCK, Comparison, ScoreBlock, Tile, tiles
from densevse.runtime.arrays import Indices, as_array


@dataclass(frozen=True)
class Ranks:
    """The rank, from 1, of every query's first true answer."""

    i2t: Indices  # (images with at least one sentence,): the image asks for sentences
    t2i: Indices  # (sentences,): the sentence asks for images


class RankCounter:
    """Counts, tile by tile, the candidates before each query's truth. Diagonal tiles must come first."""

    def __init__(self, image_of_sentence: Indices, images: int, scores: Any) -> None:
        """`scores` are those of the first tile: thresholds have their type, and are counted where they are."""
        sentences = len(image_of_sentence)
        self._asking = np.unique(image_of_sentence)  # the images with a sentence
        self._arrays = ranking_classes(scores).operations()
        self._image_of_sentence = self._arrays.put(image_of_sentence, scores)
        self._columns = self._arrays.put(np.arange(sentences), scores)
        lowest = np.full(sentences + images, -np.inf, as_array(scores[:0]).dtype)
        self._true_image = self._arrays.put(lowest[:sentences], scores)  # score of each sentence's image
        self._best_sentence = self._arrays.put(lowest[sentences:], scores)  # score of each image's best true sentence
        self._sentences_before = self._arrays.put(np.ones(images, np.int64), scores)
        # The truth itself is counted with the others.
        self._images_before = self._arrays.put(np.zeros(sentences, np.int64), scores)

    def add(self, tile: Tile) -> None:
        """Compares every score of a tile with the thresholds of its row and its column."""
        if tile.diagonal:
            self._learn_thresholds(tile)
        self._count(tile, "ge", self._sentences_before, self._images_before)

    def ranks(self) -> tuple[Indices, Indices]:
        """The ranks of the images with a sentence, and of the sentences, after every tile was added."""
        return as_array(self._sentences_before)[self._asking], as_array(self._images_before)

    def _count(self, tile: Tile, comparison: Comparison, of_images: Any, of_sentences: Any) -> None:
        count, rows, columns = self._arrays.count, tile.images, tile.sentences
        of_images[rows] += count(comparison, tile.scores, self._best_sentence[rows, None], 1)
        of_sentences[columns] += count(comparison, tile.scores, self._true_image[columns], 0)

    def _learn_thresholds(self, tile: Tile) -> None:
        image = self._image_of_sentence[tile.sentences]
        true = tile.scores[image - tile.images.start, self._columns[: len(image)]]
        self._true_image[tile.sentences] = true
        self._arrays.raise_to(self._best_sentence, image, true)
        # The best true sentences are not wrong candidates, so they are subtracted from the count.
        self._arrays.add_at(self._sentences_before, image, true == self._best_sentence[image], -1)


class TieCounter(RankCounter):
    """Also counts the wrong candidates that score exactly as each query's best true one."""

    def __init__(self, image_of_sentence: Indices, images: int, scores: Any) -> None:
        super().__init__(image_of_sentence, images, scores)
        self._same_sentences = self._arrays.put(np.zeros(images, np.int64), scores)
        self._same_images = self._arrays.put(np.zeros(len(image_of_sentence), np.int64), scores)

    def add(self, tile: Tile) -> None:
        """Compares every score of a tile with the thresholds of its row and its column."""
        super().add(tile)
        self._count(tile, "eq", self._same_sentences, self._same_images)

    def ties(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The queries of each direction with a tie, after every tile was added."""
        best = as_array(self._true_image == self._best_sentence[self._image_of_sentence])
        own = np.bincount(as_array(self._image_of_sentence), best, len(self._same_sentences))
        return (as_array(self._same_sentences) > own)[self._asking], as_array(self._same_images) > 1


def evaluate(score_block: ScoreBlock, image_of_sentence: ArrayLike, images: int, block: int = BLOCK) -> Ranks:
    """Ranks all sentences for each image and all images for each sentence.

    `score_block(image_slice, sentence_slice)` returns the scores (images of the slice, sentences of the slice), higher
    is closer, as arrays or as tensors. `image_of_sentence` (S,) int64, ascending, is the image of each sentence, below
    `images`. An image may have any number of sentences; an image without any is a candidate but not a query. `block` is
    the number of images in a tile.

    The rank is 1 + the number of wrong candidates that score at least as high as the best true one: a tie counts
    against the query, so that equal scores are never a hit.

    Scores are ranked as float32, and float64 as it is.

    Raises `InputError` that names the pair if a score is not a number, `ValueError` if sentences are not in the order
    of their images or a tile has the wrong shape.
    """
    owner = as_array(image_of_sentence)
    counter: Any = None
    for tile in tiles(score_block, owner, images, block):
        counter = counter or RankCounter(owner, images, tile.scores)
        counter.add(tile)
    return Ranks(*counter.ranks())


def metrics(ranks: Ranks) -> dict[str, float]:
    """R@K, Med r, Mean r both ways, rsum and mR; see `recall_metrics`."""
    return recall_metrics(ranks.i2t, ranks.t2i)


class RankingClasses(NamedTuple):
    """The classes that rank the scores of a library."""

    operations: Callable[[], Any]  # those of `RankCounter`
    top_candidates: Callable[[int, int, int], Any]  # by the numbers of queries, candidates, and best ones that stay


def ranking_classes(scores: Any) -> RankingClasses:
    """Those of `in_torch` for tensors, which stay on their device, else those of `in_numpy`."""
    if isinstance(scores, np.ndarray):
        return RankingClasses(ArrayOperations, TopCandidates)
    from densevse.evaluation import in_torch  # where there are tensors, torch is installed

    return RankingClasses(in_torch.TensorOperations, in_torch.TopCandidatesOfTensors)
