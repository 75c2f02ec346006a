"""Retrieval results: the rank and the best candidates of every query, from which all tables are computed."""

import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.evaluation.protocols import Fold, TestSet
from densevse.evaluation.ranks import TieCounter, ranking_classes
from densevse.evaluation.tiles import BLOCK, ScoreBlock, tiles
from densevse.runtime.arrays import Indices

TOP = 10

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


def retrieve_by_direction(
    i2t: Scorer, t2i: Scorer, test_set: TestSet, folds: list[Fold], top: int = TOP
) -> pd.DataFrame:
    """The rows as by `retrieve`, where images ask by the scores of `i2t` and sentences by those of `t2i`."""
    rows = retrieve(i2t, test_set, folds, top=top)
    if t2i is i2t:
        return rows
    asked_by_sentences = retrieve(t2i, test_set, folds, top=top)
    return rows.where(rows["direction"] == "i2t", asked_by_sentences).astype(rows.dtypes)


def _retrieve_fold(score_block: ScoreBlock, test_set: TestSet, fold: Fold, block: int, top: int) -> pd.DataFrame:
    image_of_sentence = np.searchsorted(fold.images, test_set.image_of_caption[fold.captions])
    images, sentences = len(fold.images), len(fold.captions)
    counter: Any = None
    for tile in tiles(score_block, image_of_sentence, images, block):
        if counter is None:
            counter = TieCounter(image_of_sentence, images, tile.scores)
            best_of = ranking_classes(tile.scores).top_candidates
            of_images, of_sentences = best_of(images, sentences, top), best_of(sentences, images, top)
        counter.add(tile)
        of_images.add(tile.images, tile.sentences, tile.scores)
        of_sentences.add(tile.sentences, tile.images, tile.scores.T)
    ranks, ties = counter.ranks(), counter.ties()
    image_ids, caption_ids = test_set.image_ids[fold.images], test_set.caption_ids[fold.captions]
    asks = np.unique(image_of_sentence)
    best, scores = of_images.top_candidates()
    i2t = _rows("i2t", image_ids[asks], ranks[0], caption_ids, best[asks], scores[asks])
    i2t["tied"], i2t["top_true"] = ties[0], list(image_of_sentence[best[asks]] == asks[:, None])
    best, scores = of_sentences.top_candidates()
    t2i = _rows("t2i", caption_ids, ranks[1], image_ids, best, scores)
    t2i["tied"], t2i["top_true"] = ties[1], list(best == image_of_sentence[:, None])
    return pd.concat([i2t, t2i], ignore_index=True)


def _rows(
    direction: str, queries: Ids, ranks: Indices, candidates: Ids, best: Indices, scores: NDArray[np.float32]
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "direction": direction,
            "query_id": queries,
            "rank": ranks,
            "candidates": len(candidates),
            "top": list(candidates[best]),
            "top_scores": list(scores),
        }
    )


def versions() -> dict[str, str]:
    """The versions that metrics depend on."""
    packages = ("numpy", "torch", "torchvision")
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}
