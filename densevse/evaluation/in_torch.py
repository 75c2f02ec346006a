"""Ranks and the best candidates of scores that are torch tensors of float32, on their device.

`densevse.evaluation.in_numpy` has the same of arrays: scores of a GPU would take longer to copy than to rank there.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.evaluation.buffers import Buffer
from densevse.evaluation.tiles import Tile
from densevse.runtime.arrays import Indices

LOW_31_BITS, LOW_32_BITS = (1 << 31) - 1, (1 << 32) - 1


class RankCounter:
    """Counts, tile by tile, the candidates before each query's truth. Diagonal tiles must come first."""

    def __init__(self, image_of_sentence: Indices, images: int, scores: Tensor) -> None:
        """`scores` are those of the first tile; counts stay on their device."""
        sentences, device = len(image_of_sentence), scores.device
        self._image_of_sentence = torch.from_numpy(image_of_sentence).to(device)
        self._best_sentence = torch.full((images,), -math.inf, device=device)  # of each image's best true sentence
        self._true_image = torch.full((sentences,), -math.inf, device=device)  # score of each sentence's image
        self._sentences_before = torch.ones(images, dtype=torch.long, device=device)
        # The truth itself is counted with the others.
        self._images_before = torch.zeros(sentences, dtype=torch.long, device=device)
        # A comparison that gives floats is vectorised when summed; one that gives booleans is not.
        self._compared = Buffer(torch.float32)

    def add(self, tile: Tile) -> None:
        """Compares every score of a tile with the thresholds of its row and its column."""
        scores = tile.scores
        if tile.diagonal:
            self._learn_thresholds(tile)
        before = self._compared.allocate(scores.shape, scores.device)
        torch.ge(scores, self._best_sentence[tile.images, None], out=before)
        self._sentences_before[tile.images] += before.sum(dim=1).long()
        torch.ge(scores, self._true_image[tile.sentences], out=before)
        self._images_before[tile.sentences] += before.sum(dim=0).long()

    def ranks(self) -> tuple[Indices, Indices]:
        """The ranks of the images with a sentence, and of the sentences, after every tile was added."""
        return self._sentences_before[self._asking_images()].cpu().numpy(), self._images_before.cpu().numpy()

    def _asking_images(self) -> Tensor:
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

    def __init__(self, image_of_sentence: Indices, images: int, scores: Tensor) -> None:
        super().__init__(image_of_sentence, images, scores)
        self._same_sentences = torch.zeros_like(self._sentences_before)
        self._same_images = torch.zeros_like(self._images_before)

    def add(self, tile: Tile) -> None:
        """Compares every score of a tile with the thresholds of its row and its column."""
        super().add(tile)
        same = self._compared.allocate(tile.scores.shape, tile.scores.device)
        torch.eq(tile.scores, self._best_sentence[tile.images, None], out=same)
        self._same_sentences[tile.images] += same.sum(dim=1).long()
        torch.eq(tile.scores, self._true_image[tile.sentences], out=same)
        self._same_images[tile.sentences] += same.sum(dim=0).long()

    def ties(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The queries of each direction with a tie, after every tile was added."""
        best = (self._true_image == self._best_sentence[self._image_of_sentence]).long()
        own = torch.zeros_like(self._same_sentences).index_add_(0, self._image_of_sentence, best)
        return (self._same_sentences > own)[self._asking_images()].cpu().numpy(), (self._same_images > 1).cpu().numpy()


class TopCandidates:
    """The `top` best candidates of each query, from tiles in any order; equal scores keep the candidates' order.

    Score and candidate form one integer, with the score's bits above the candidate's. So no two are equal, and the
    largest do not depend on the tiles. They stay on the scores' device until `top_candidates` is called.
    """

    def __init__(self, queries: int, candidates: int, top: int) -> None:
        self._keys = torch.full((queries, min(top, candidates)), torch.iinfo(torch.long).min)
        self._bits, self._both = Buffer(torch.int32), Buffer(torch.long)

    def add(self, queries: slice, candidates: slice, scores: Tensor) -> None:
        """Adds the `scores` (queries, candidates) of consecutive queries with consecutive candidates."""
        self._keys = self._keys.to(scores.device)
        top = self._keys.shape[1]
        both = self._both.allocate((len(scores), top + scores.shape[1]), scores.device)
        rising = self._sortable_bits(scores, both.view(torch.int32)[:, : scores.shape[1]])  # `both` holds nothing yet
        both[:, :top] = self._keys[queries]
        keys = both[:, top:].copy_(rising).bitwise_left_shift_(32)
        keys += LOW_32_BITS - torch.arange(candidates.start, candidates.stop, device=scores.device)
        self._keys[queries] = both.topk(top, dim=1).values

    def _sortable_bits(self, scores: Tensor, signs: Tensor) -> Tensor:
        """The scores' bits as integers that rise with the scores; `signs` is memory of their shape, int32."""
        bits = self._bits.allocate(scores.shape, scores.device)
        torch.add(scores, 0.0, out=bits.view(torch.float32))  # turns -0.0 into 0.0
        torch.bitwise_right_shift(bits, 31, out=signs)  # all bits are 1 if the score is negative, else 0
        return bits.bitwise_xor_(signs.bitwise_and_(LOW_31_BITS))

    def top_candidates(self) -> tuple[Indices, NDArray[np.float32]]:
        """Candidates and scores, best first: both (queries, at most `top`)."""
        keys = self._keys.cpu()
        rising = (keys >> 32).int()
        bits = torch.where(rising < 0, rising ^ LOW_31_BITS, rising)
        return (LOW_32_BITS - (keys & LOW_32_BITS)).numpy(), bits.view(torch.float32).numpy()
