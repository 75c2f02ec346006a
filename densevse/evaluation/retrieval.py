"""Retrieval results: the rank and the best candidates of every query, from which all tables are computed."""

import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import TypeAlias

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.evaluation.buffers import Buffer
from densevse.evaluation.protocols import Fold, TestSet
from densevse.evaluation.ranks import BLOCK, ScoreBlock, TieCounter, tiles
from densevse.runtime.arrays import Indices

TOP = 10
LOW_31_BITS, LOW_32_BITS = (1 << 31) - 1, (1 << 32) - 1

Ids: TypeAlias = NDArray[np.object_]
Scorer: TypeAlias = Callable[[Indices, Indices], ScoreBlock]


def retrieve(scorer: Scorer, test_set: TestSet, folds: list[Fold], block: int = BLOCK, top: int = TOP) -> pd.DataFrame:
    """The rows of a RETRIEVAL artifact, with the `top` best candidates of each query.

    `scorer(images, captions)` returns the `ScoreBlock` of a fold's rows of the test set (see `evaluate`). Images
    without a sentence are candidates but not queries. In the list of the best, equal scores are in the order of the
    candidates; the rank counts a tie against the query.
    """
    parts = []
    for number, fold in enumerate(folds):
        part = _retrieve_fold(scorer(fold.images, fold.captions), test_set, fold, block, top)
        part.insert(0, "fold", number)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _retrieve_fold(score_block: ScoreBlock, test_set: TestSet, fold: Fold, block: int, top: int) -> pd.DataFrame:
    image_of_caption = np.searchsorted(fold.images, test_set.image_of_caption[fold.captions])
    image_of_sentence = torch.from_numpy(image_of_caption)
    images, sentences = len(fold.images), len(fold.captions)
    counter = TieCounter(image_of_sentence, images)
    tops: list[TopCandidates | TopOfDoubles] = []  # of sentences, and of images
    for tile in tiles(score_block, image_of_sentence, images, block):
        of_type = TopOfDoubles if tile.scores.dtype == torch.float64 else TopCandidates
        tops = tops or [of_type(images, sentences, top), of_type(sentences, images, top)]
        counter.add(tile)
        tops[0].add(tile.images, tile.sentences, tile.scores)
        tops[1].add(tile.sentences, tile.images, tile.scores.T)
    ranks, ties = counter.ranks(), counter.ties()
    image_ids, caption_ids = test_set.image_ids[fold.images], test_set.caption_ids[fold.captions]
    asks = np.unique(image_of_caption)
    best, scores = tops[0].best()
    i2t = _rows("i2t", image_ids[asks], ranks.i2t, caption_ids, best[asks], scores[asks])
    i2t["tied"], i2t["top_true"] = ties.i2t.numpy(), list(image_of_caption[best[asks]] == asks[:, None])
    best, scores = tops[1].best()
    t2i = _rows("t2i", caption_ids, ranks.t2i, image_ids, best, scores)
    t2i["tied"], t2i["top_true"] = ties.t2i.numpy(), list(best == image_of_caption[:, None])
    return pd.concat([i2t, t2i], ignore_index=True)


def _rows(
    direction: str, queries: Ids, ranks: Tensor, candidates: Ids, best: Indices, scores: NDArray[np.float32]
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "direction": direction,
            "query_id": queries,
            "rank": ranks.numpy(),
            "candidates": len(candidates),
            "top": list(candidates[best]),
            "top_scores": list(scores),
        }
    )


class TopCandidates:
    """The `top` best candidates of each query, from tiles in any order; equal scores keep the candidates' order.

    Score and candidate form one integer, with the score's bits above the candidate's. So no two are equal, and the
    largest do not depend on the tiles. They stay on the scores' device until `best` is called.
    """

    def __init__(self, queries: int, candidates: int, top: int) -> None:
        self._keys = torch.full((queries, min(top, candidates)), torch.iinfo(torch.long).min)
        self._bits, self._both = Buffer(torch.int32), Buffer(torch.long)

    def add(self, queries: slice, candidates: slice, scores: Tensor) -> None:
        """Adds the `scores` (queries, candidates) of consecutive queries with consecutive candidates."""
        self._keys = self._keys.to(scores.device)
        top = self._keys.shape[1]
        both = self._both.shaped((len(scores), top + scores.shape[1]), scores.device)
        rising = self._rising(scores, both.view(torch.int32)[:, : scores.shape[1]])  # `both` holds nothing yet
        both[:, :top] = self._keys[queries]
        keys = both[:, top:].copy_(rising).bitwise_left_shift_(32)
        keys += LOW_32_BITS - torch.arange(candidates.start, candidates.stop, device=scores.device)
        self._keys[queries] = both.topk(top, dim=1).values

    def _rising(self, scores: Tensor, signs: Tensor) -> Tensor:
        """The scores' bits as integers that rise with the scores; `signs` is memory of their shape, int32."""
        bits = self._bits.shaped(scores.shape, scores.device)
        torch.add(scores, 0.0, out=bits.view(torch.float32))  # turns -0.0 into 0.0
        torch.bitwise_right_shift(bits, 31, out=signs)  # all bits are 1 if the score is negative, else 0
        return bits.bitwise_xor_(signs.bitwise_and_(LOW_31_BITS))

    def best(self) -> tuple[Indices, NDArray[np.float32]]:
        """Candidates and scores, best first: both (queries, at most `top`)."""
        keys = self._keys.cpu()
        rising = (keys >> 32).int()
        bits = torch.where(rising < 0, rising ^ LOW_31_BITS, rising)
        return (LOW_32_BITS - (keys & LOW_32_BITS)).numpy(), bits.view(torch.float32).numpy()


class TopOfDoubles:
    """The same of float64 scores, whose bits leave a candidate no room in one integer."""

    def __init__(self, queries: int, candidates: int, top: int) -> None:
        self._scores = torch.full((queries, min(top, candidates)), -torch.inf, dtype=torch.float64)
        self._candidates = torch.full_like(self._scores, LOW_31_BITS, dtype=torch.long)

    def add(self, queries: slice, candidates: slice, scores: Tensor) -> None:
        """Adds the `scores` (queries, candidates) of consecutive queries with consecutive candidates."""
        top = self._scores.shape[1]
        numbers = torch.arange(candidates.start, candidates.stop).expand(len(scores), -1)
        both, names = torch.cat([self._scores[queries], scores], 1), torch.cat([self._candidates[queries], numbers], 1)
        found = both.topk(top + 1, dim=1)
        kept, last = found.indices[:, :top], found.values[:, top - 1 : top]
        if (found.values[:, top:] == last).any():  # of candidates that score as the last one, the first are kept
            earlier = torch.where(both > last, 1, torch.where(both == last, -names, -LOW_32_BITS))
            kept = earlier.topk(top, dim=1).indices
        kept = kept.gather(1, names.gather(1, kept).argsort(dim=1))
        kept = kept.gather(1, both.gather(1, kept).argsort(dim=1, descending=True, stable=True))
        self._scores[queries], self._candidates[queries] = both.gather(1, kept), names.gather(1, kept)

    def best(self) -> tuple[Indices, NDArray[np.float32]]:
        """Candidates and scores, best first: both (queries, at most `top`). Scores are rounded to float32."""
        return self._candidates.numpy(), self._scores.float().numpy()


def versions() -> dict[str, str]:
    """The versions that metrics depend on, for the lineage."""
    packages = ("numpy", "torch", "torchvision")
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}
