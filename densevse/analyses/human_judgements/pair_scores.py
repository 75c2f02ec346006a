"""Scores of pairs of an image and a sentence that people have judged, by a trained model or a given row."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from densevse.analyses.human_judgements.judgements import JUDGEMENTS, PAIR_SCORES
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.config.given import GivenLayout
from densevse.config.strict import validate
from densevse.data.files import Files
from densevse.evaluation.given.retrieval import read_test, scorers
from densevse.evaluation.protocols import TestSet
from densevse.evaluation.retrieval import Scorer, versions
from densevse.models.retrieval import encode_test
from densevse.runtime.arrays import as_array
from densevse.runtime.errors import InputError

_PAIR = ["image_id", "caption_id"]
IMAGES_AT_ONCE = 500


def write_pair_scores(
    model: str, judgements: str, threads: int, wildcards: Mapping[str, str], output: str, **files: str | list[str]
) -> None:
    """The job that writes PAIR_SCORES of the judged pairs by a trained model; `files` are the model's inputs.

    Raises `InputError` as `encode_test` does.
    """
    inputs = Files(files)
    encoded = encode_test(inputs, [model], threads)
    rows = pair_scores(encoded.scorers[0], encoded.rows, schema.read(judgements, JUDGEMENTS))
    made_from = lineage(encoded.made_with, {**inputs.named(), "model": model, "judgements": judgements})
    schema.write(rows, PAIR_SCORES, output, made_from, Identity.of(wildcards, split="test"))


def write_given_pair_scores(
    image_table: str,
    caption_table: str,
    judgements: str,
    layout: Mapping[str, Any],
    ranked_sentences: str,
    contents: Sequence[str],
    wildcards: Mapping[str, str],
    output: str,
    **given: str,
) -> None:
    """The job that writes PAIR_SCORES of the judged pairs; of two matrices, that of i2t has the scores.

    `layout` has the fields of `GivenLayout`, and `given` are the files by their keys, of which `contents` are digests.
    Raises `InputError` as `write_given_retrieval` and `pair_scores` do.
    """
    meaning = validate(GivenLayout, layout, "the given row")
    test = read_test(image_table, caption_table, "full", ranked_sentences)
    i2t, _ = scorers(given, meaning, test, Path(output).parent)
    rows = pair_scores(i2t, test.rows, schema.read(judgements, JUDGEMENTS))
    settings = {"layout": meaning.model_dump(), "contents": contents, "versions": versions()}
    made_from = lineage(settings, {"images": image_table, "captions": caption_table, "judgements": judgements})
    schema.write(rows, PAIR_SCORES, output, made_from, Identity.of(wildcards, split="test"))


def pair_scores(scorer: Scorer, test_set: TestSet, judged: pd.DataFrame) -> pd.DataFrame:
    """PAIR_SCORES rows, one for each pair in `judged` (columns image_id and caption_id).

    `scorer` is as in `retrieve`. Centred scores need those of all pairs of the test set, as ranks do: an image that is
    close to every sentence, or a sentence that is close to every image, has a high mean. Raises `InputError` for a pair
    that is not of the test set.
    """
    pairs = judged[_PAIR].drop_duplicates(ignore_index=True)
    image = pd.Index(test_set.image_ids).get_indexer(pd.Index(pairs["image_id"]))
    caption = pd.Index(test_set.caption_ids).get_indexer(pd.Index(pairs["caption_id"]))
    if min(image.min(initial=0), caption.min(initial=0)) < 0:
        missing = pairs[(image < 0) | (caption < 0)].iloc[0].tolist()
        raise InputError(f"the judged pair {missing} is not of the test split; delete judgements.parquet.")
    images, captions = len(test_set.image_ids), len(test_set.caption_ids)
    score_block = scorer(np.arange(images), np.arange(captions))
    scores, of_image, of_caption = np.empty(len(pairs)), np.empty(images), np.zeros(captions)
    for first in range(0, images, IMAGES_AT_ONCE):
        rows = slice(first, min(first + IMAGES_AT_ONCE, images))
        tile = as_array(score_block(rows, slice(0, captions))).astype(np.float64)
        inside = (image >= rows.start) & (image < rows.stop)
        scores[inside] = tile[image[inside] - first, caption[inside]]
        of_image[rows] = tile.mean(axis=1)
        of_caption += tile.sum(axis=0) / images
    return pairs.assign(score=scores, centred=scores - of_image[image] - of_caption[caption])
