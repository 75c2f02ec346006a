"""Ranks all queries in both directions, in one pass over the scores in tiles.

    ranks = evaluate(score_block, image_of_sentence, images=1000)
    metrics(ranks)["rsum"]

The tiles on the diagonal give each query a threshold: the score of its best true candidate. Then every other tile is
compared with the thresholds of its rows and columns, and discarded. Each score is computed exactly once, so equal
scores are ties bit for bit, and memory holds one tile.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from densevse.evaluation import in_numpy
from densevse.evaluation.recall import recall_metrics
from densevse.evaluation.tiles import BLOCK, ScoreBlock, tiles
from densevse.runtime.arrays import Indices, as_array


@dataclass(frozen=True)
class Ranks:
    """The rank, from 1, of every query's first true answer."""

    i2t: Indices  # (images with at least one sentence,): the image asks for sentences
    t2i: Indices  # (sentences,): the sentence asks for images


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
        counter = counter or ranking_module(tile.scores).RankCounter(owner, images, tile.scores)
        counter.add(tile)
    return Ranks(*counter.ranks())


def metrics(ranks: Ranks) -> dict[str, float]:
    """R@K, Med r, Mean r both ways, rsum and mR; see `recall_metrics`."""
    return recall_metrics(ranks.i2t, ranks.t2i)


def ranking_module(scores: Any) -> ModuleType:
    """The module that ranks these scores: `in_torch` for tensors, which stay on their device, else `in_numpy`."""
    if isinstance(scores, np.ndarray):
        return in_numpy
    from densevse.evaluation import in_torch  # where there are tensors, torch is installed

    return in_torch
