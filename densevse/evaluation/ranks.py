"""Ranks all queries in both directions, in one pass over the scores in tiles.

    ranks = evaluate(score_block, image_of_sentence, images=1000)
    metrics(ranks)["rsum"]

Sentences are in the order of their images, so the true pairs lie on the diagonal of the score matrix. The tiles on the
diagonal are computed first. They give each query a threshold: the score of its best true candidate. Then every other
tile is compared with the thresholds of its rows and columns, and discarded. Each score is computed exactly once, so
equal scores are ties bit for bit, and memory holds one tile.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from densevse.evaluation.buffers import Buffer
from densevse.evaluation.recall import recall_metrics
from densevse.runtime.errors import InputError

ScoreBlock: TypeAlias = Callable[[slice, slice], Tensor]

BLOCK = 500  # images of a tile
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Ranks:
    """The rank, from 1, of every query's first true answer."""

    i2t: Tensor  # (images with at least one sentence,) int64: the image asks for sentences
    t2i: Tensor  # (sentences,) int64: the sentence asks for images


class Ties(NamedTuple):
    """True for queries where a wrong candidate scores exactly as the best true one."""

    i2t: Tensor  # (images with at least one sentence,) bool
    t2i: Tensor  # (sentences,) bool


@dataclass(frozen=True)
class Tile:
    """Scores of consecutive images with consecutive sentences; `diagonal` tiles hold all their true pairs."""

    images: slice
    sentences: slice
    scores: Tensor  # (images, sentences) float32, or float64 of a matrix that somebody gives
    diagonal: bool


def evaluate(score_block: ScoreBlock, image_of_sentence: Tensor, images: int, block: int = BLOCK) -> Ranks:
    """Ranks all sentences for each image and all images for each sentence.

    `score_block(image_slice, sentence_slice)` returns the scores (images of the slice, sentences of the slice), higher
    is closer. `image_of_sentence` (S,) int64, ascending, is the image of each sentence, below `images`. An image may
    have any number of sentences; an image without any is a candidate but not a query. `block` is the number of images
    in a tile.

    The rank is 1 + the number of wrong candidates that score at least as high as the best true one: a tie counts
    against the query, so that equal scores are never a hit.

    Scores are ranked as float32, and float64 as it is.

    Raises `InputError` that names the pair if a score is not a number, `ValueError` if sentences are not in the order
    of their images or a tile has the wrong shape.
    """
    counter = RankCounter(image_of_sentence, images)
    for tile in tiles(score_block, image_of_sentence, images, block):
        counter.add(tile)
    return counter.ranks()


def metrics(ranks: Ranks) -> dict[str, float]:
    """R@K, Med r, Mean r both ways, rsum and mR; see `recall_metrics`."""
    return recall_metrics(ranks.i2t.cpu().numpy(), ranks.t2i.cpu().numpy())


def tiles(score_block: ScoreBlock, image_of_sentence: Tensor, images: int, block: int) -> Iterator[Tile]:
    """Yields the tiles of the score matrix, those on the diagonal first. Raises as `evaluate` does."""
    _check_order(image_of_sentence, images)
    starts = list(range(0, images, block))
    bounds = torch.searchsorted(image_of_sentence.cpu(), torch.tensor([*starts, images])).tolist()
    rows = [slice(start, min(start + block, images)) for start in starts]
    columns = [slice(first, last) for first, last in pairwise(bounds)]
    blocks = range(len(rows))
    on_diagonal = [(i, i) for i in blocks]
    elsewhere = [(i, j) for i in blocks for j in blocks if i != j]
    places = [(i, j) for i, j in (*on_diagonal, *elsewhere) if columns[j].start < columns[j].stop]
    total = torch.zeros(())
    for i, j in places:
        scores = _scores(score_block, rows[i], columns[j])
        total = total.to(scores.device) + scores.sum()
        yield Tile(rows[i], columns[j], scores, i == j)
    # A sum is NaN if a term is NaN (or if infinities cancel), which is cheaper than testing every score. It is tested
    # after the last tile, so that the host waits for a GPU once; a sum kept of each tile would split the heap.
    if total.isnan():
        for i, j in places:
            _check_numbers(_scores(score_block, rows[i], columns[j]), rows[i], columns[j])


class RankCounter:
    """Counts, tile by tile, the candidates before each query's truth. Diagonal tiles must come first."""

    def __init__(self, image_of_sentence: Tensor, images: int) -> None:
        sentences = len(image_of_sentence)
        # Everything moves to the scores' device with the first tile, and back after the last; thresholds take their
        # type, too.
        self._image_of_sentence = image_of_sentence
        self._best_sentence = torch.full((images,), -math.inf)  # score of each image's best true sentence
        self._true_image = torch.full((sentences,), -math.inf)  # score of each sentence's image
        self._sentences_before = torch.ones(images, dtype=torch.long)
        self._images_before = torch.zeros(sentences, dtype=torch.long)  # the truth itself is counted with the others
        # A comparison that gives floats is vectorised when summed; one that gives booleans is not.
        self._compared = Buffer(torch.float32)

    def add(self, tile: Tile) -> None:
        """Compares every score of a tile with the thresholds of its row and its column."""
        scores = tile.scores
        self._move(scores.device, scores.dtype)
        if tile.diagonal:
            self._learn_thresholds(tile)
        before = self._compared.shaped(scores.shape, scores.device)
        torch.ge(scores, self._best_sentence[tile.images, None], out=before)
        self._sentences_before[tile.images] += before.sum(dim=1).long()
        torch.ge(scores, self._true_image[tile.sentences], out=before)
        self._images_before[tile.sentences] += before.sum(dim=0).long()

    def ranks(self) -> Ranks:
        """The ranks, on the CPU, after every tile was added."""
        self._move(CPU, self._true_image.dtype)
        return Ranks(self._sentences_before[self._asks()], self._images_before)

    def _move(self, device: torch.device, dtype: torch.dtype) -> None:
        """Continues on a device, with thresholds of a type: copies the counts, but no scores."""
        if (self._true_image.device, self._true_image.dtype) != (device, dtype):
            for name, part in vars(self).items():
                if isinstance(part, Tensor):
                    setattr(self, name, part.to(device, dtype if part.is_floating_point() else part.dtype))

    def _asks(self) -> Tensor:
        """The images with a sentence."""
        return torch.bincount(self._image_of_sentence, minlength=len(self._sentences_before)) > 0

    def _learn_thresholds(self, tile: Tile) -> None:
        image = self._image_of_sentence[tile.sentences]
        true = tile.scores.gather(0, (image - tile.images.start)[None])[0]
        self._true_image[tile.sentences] = true
        self._best_sentence.scatter_reduce_(0, image, true, "amax")
        # The best true sentences are not wrong candidates, so they are subtracted from the count.
        self._sentences_before.index_add_(0, image, (true == self._best_sentence[image]).long(), alpha=-1)


class TieCounter(RankCounter):
    """Also counts the wrong candidates that score exactly as each query's best true one."""

    def __init__(self, image_of_sentence: Tensor, images: int) -> None:
        super().__init__(image_of_sentence, images)
        self._same_sentences = torch.zeros_like(self._sentences_before)
        self._same_images = torch.zeros_like(self._images_before)

    def add(self, tile: Tile) -> None:
        """Compares every score of a tile with the thresholds of its row and its column."""
        super().add(tile)
        same = self._compared.shaped(tile.scores.shape, tile.scores.device)
        torch.eq(tile.scores, self._best_sentence[tile.images, None], out=same)
        self._same_sentences[tile.images] += same.sum(dim=1).long()
        torch.eq(tile.scores, self._true_image[tile.sentences], out=same)
        self._same_images[tile.sentences] += same.sum(dim=0).long()

    def ties(self) -> Ties:
        """The queries with a tie, on the CPU, after every tile was added."""
        self._move(CPU, self._true_image.dtype)
        best = (self._true_image == self._best_sentence[self._image_of_sentence]).long()
        own = torch.zeros_like(self._same_sentences).index_add_(0, self._image_of_sentence, best)
        return Ties((self._same_sentences > own)[self._asks()], self._same_images > 1)


def _check_order(image_of_sentence: Tensor, images: int) -> None:
    if len(image_of_sentence) == 0:
        raise ValueError("there is no sentence to rank")
    if image_of_sentence.diff().lt(0).any() or image_of_sentence[0] < 0 or image_of_sentence[-1] >= images:
        raise ValueError(f"image_of_sentence must be ascending and within 0..{images - 1}: sort sentences by image")


def _scores(score_block: ScoreBlock, rows: slice, columns: slice) -> Tensor:
    scores = score_block(rows, columns)
    expected = (rows.stop - rows.start, columns.stop - columns.start)
    if tuple(scores.shape) != expected:
        raise ValueError(f"score_block({rows}, {columns}) returned {tuple(scores.shape)} instead of {expected} scores")
    return scores.detach().to(torch.promote_types(scores.dtype, torch.float32))


def _check_numbers(scores: Tensor, rows: slice, columns: slice) -> None:
    if scores.isnan().any():
        image, sentence = scores.isnan().nonzero()[0].tolist()
        raise InputError(
            f"The score of image {rows.start + image} with sentence {columns.start + sentence} is not a number. "
            "Either the features hold such a value or the training diverged: lower its learning rate."
        )
