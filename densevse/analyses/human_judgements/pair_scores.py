"""Scores of pairs of an image and a sentence that people have judged, by a trained model or a given row."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from densevse.analyses.human_judgements.judgements import CROWD_RANKS, JUDGEMENTS, PAIR_SCORES, SHARE_OF_YES
from densevse.config.given import GivenLayout
from densevse.config.values import RankedSentences
from densevse.data.files import Files
from densevse.evaluation.given.retrieval import read_test, scorers
from densevse.evaluation.protocols import TestSet
from densevse.evaluation.retrieval import Scorer, versions
from densevse.kernels.arrays import Booleans
from densevse.models.retrieval import encode_test
from densevse.runtime.arrays import Indices, Reals, as_array
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.strict import validate

_PAIR = ["image_id", "caption_id"]
IMAGES_AT_ONCE = 500


def write_pair_scores(
    model: str,
    judgements: str,
    threads: int,
    ranked_sentences: RankedSentences,
    pairs: str,
    ranks: str,
    **files: str | list[str],
) -> None:
    """The job that writes PAIR_SCORES of the judged pairs and CROWD_RANKS by a trained model.

    `files` are the model's inputs. Raises `InputError` as `encode_test` does.
    """
    encoded = encode_test({model: Files(files)}, threads, ranked_sentences)
    scores = JudgedScores(encoded.scorers[0], encoded.rows, schema.read(judgements, JUDGEMENTS))
    _write_scores(scores, pairs, ranks, **encoded.made_with)


def write_given_pair_scores(
    image_table: str,
    caption_table: str,
    judgements: str,
    layout: Mapping[str, Any],
    ranked_sentences: RankedSentences,
    pairs: str,
    ranks: str,
    **given: str,
) -> None:
    """The job that writes PAIR_SCORES and CROWD_RANKS of a given row; of two matrices, that of i2t has the scores.

    `layout` has the fields of `GivenLayout`, and `given` are the files by their keys. Raises `InputError` as
    `write_given_retrieval` and `JudgedScores` do.
    """
    meaning = validate(GivenLayout, layout, "the given row")
    test = read_test(image_table, caption_table, "full", ranked_sentences)
    i2t, _ = scorers(given, meaning, test, Path(pairs).parent)
    scores = JudgedScores(i2t, test.rows, schema.read(judgements, JUDGEMENTS))
    _write_scores(scores, pairs, ranks, versions=versions())


class JudgedScores:
    """The scores of all pairs of a test set, and the pairs of it that people judged."""

    def __init__(self, scorer: Scorer, test_set: TestSet, judged: pd.DataFrame) -> None:
        """`scorer` is as in `retrieve`; `judged` are JUDGEMENTS rows.

        Raises `InputError` for a pair that is not of the test set.
        """
        self.test_set, self.judged = test_set, judged.reset_index(drop=True)
        self.image = pd.Index(test_set.image_ids).get_indexer(pd.Index(judged["image_id"]))
        self.caption = pd.Index(test_set.caption_ids).get_indexer(pd.Index(judged["caption_id"]))
        if min(self.image.min(initial=0), self.caption.min(initial=0)) < 0:
            missing = judged.loc[(self.image < 0) | (self.caption < 0), _PAIR].iloc[0].tolist()
            raise InputError(f"the judged pair {missing} is not of the test split; delete judgements.parquet.")
        self.scores = _matrix(scorer, len(test_set.image_ids), len(test_set.caption_ids))

    def pairs(self) -> pd.DataFrame:
        """PAIR_SCORES rows, one for each judged pair.

        An image that is close to every sentence, or a sentence that is close to every image, has a high mean score,
        which centred scores are without.
        """
        score = self.scores[self.image, self.caption]
        centred = score - self.scores.mean(axis=1)[self.image] - self.scores.mean(axis=0)[self.caption]
        return self.judged[_PAIR].assign(score=score, centred=centred).drop_duplicates(_PAIR, ignore_index=True)

    def crowd_ranks(self) -> pd.DataFrame:
        """CROWD_RANKS rows: an image's own sentences are right, and those that enough of the crowd call right."""
        own = self.test_set.image_of_caption
        right = np.zeros(self.scores.shape, bool)
        right[own, np.arange(len(own))] = True
        enough = ((self.judged["by"] == "crowd") & (self.judged["rating"] >= SHARE_OF_YES)).to_numpy()
        right[self.image[enough], self.caption[enough]] = True
        asks = np.unique(own)
        i2t = {"direction": "i2t", "image": asks, "rank": _first_right_ranks(self.scores, right)[asks]}
        t2i = {"direction": "t2i", "image": own, "rank": _first_right_ranks(self.scores.T, right.T)}
        return pd.concat([pd.DataFrame(i2t), pd.DataFrame(t2i)], ignore_index=True)


def _write_scores(scores: JudgedScores, pairs: str, ranks: str, **found: Any) -> None:
    schema.write(scores.pairs(), PAIR_SCORES, pairs, split="test", **found)
    schema.write(scores.crowd_ranks(), CROWD_RANKS, ranks, split="test", **found)


def _matrix(scorer: Scorer, images: int, captions: int) -> Reals:
    """(images, captions) the scores of all pairs of a test set."""
    score_block = scorer(np.arange(images), np.arange(captions))
    rows = [slice(first, min(first + IMAGES_AT_ONCE, images)) for first in range(0, images, IMAGES_AT_ONCE)]
    return np.concatenate([as_array(score_block(some, slice(0, captions))).astype(np.float64) for some in rows])


def _first_right_ranks(scores: Reals, right: Booleans) -> Indices:
    """(Q,) the rank of the best right answer of each query, after all wrong ones that score as high."""
    best = np.where(right, scores, -np.inf).max(axis=1, keepdims=True)
    ranks: Indices = 1 + ((scores >= best) & ~right).sum(axis=1)
    return ranks
