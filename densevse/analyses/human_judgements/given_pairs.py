"""Scores of judged pairs, from a given row."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from densevse.analyses.human_judgements.pair_scores import pair_scores
from densevse.analyses.human_judgements.schemas import JUDGEMENTS, PAIR_SCORES
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.config.given import GivenLayout
from densevse.config.validation import validate
from densevse.evaluation.given.retrieval import read_test, scorers
from densevse.evaluation.retrieval import versions
from densevse.runtime.numerics import set_up_processor


def write_given_pair_scores(
    image_table: str,
    caption_table: str,
    judgements: str,
    layout: Mapping[str, Any],
    ranked_sentences: str,
    threads: int,
    contents: Sequence[str],
    wildcards: Mapping[str, str],
    output: str,
    **given: str,
) -> None:
    """The job that writes PAIR_SCORES of the judged pairs; of two matrices, that of i2t has the scores.

    `layout` has the fields of `GivenLayout`, and `given` are the files by their keys, of which `contents` are digests.
    Raises `InputError` as `write_given_retrieval` and `pair_scores` do.
    """
    set_up_processor(threads)
    meaning = validate(GivenLayout, layout, "the given row")
    test = read_test(image_table, caption_table, "full", ranked_sentences)
    i2t, _ = scorers(given, meaning, test, Path(output).parent)
    rows = pair_scores(i2t, test.rows, schema.read(judgements, JUDGEMENTS))
    settings = {"layout": meaning.model_dump(), "contents": contents, "versions": versions()}
    of = Identity.of(wildcards, split="test")
    schema.write(rows, PAIR_SCORES, output, lineage(settings, {"judgements": judgements}), of)
