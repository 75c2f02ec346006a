"""Answers a search with a person's own sentences or photographs, as a FOUND artifact."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.analyses.searches.schemas import FOUND
from densevse.analyses.searches.searching import Answers, SentencesOf, scores_by, search
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.data.inputs import Inputs
from densevse.inference.encodings import KeptImages
from densevse.methods.interface import Method, device_of
from densevse.runtime.errors import InputError

Ids: TypeAlias = NDArray[np.object_]


def write_answers(
    method: Method,
    inputs: Inputs,
    encodings: str | Path,
    split: str,
    asked: Literal["sentences", "photographs"],
    top: int,
    output: str | Path,
    made_from: Mapping[str, Any],
) -> None:
    """Finds the `top` best answers to each query, and writes a FOUND artifact.

    `asked` says whether queries are the sentences of `inputs` (of a split) or the images of `encodings`; the others are
    searched. Raises `InputError` that names a query sentence without any known word.
    """
    pairs = inputs.sentences_alone(split)
    images = KeptImages(encodings, type(method), device_of(method))
    ids = pairs.rows.caption_ids
    captions = schema.read(inputs.files.one("caption_table"), CAPTIONS, ["caption_id", "text"])
    texts = captions.set_index("caption_id")["text"].reindex(ids).to_numpy(object)
    if asked == "sentences" and inputs.knows_words:
        _check_understood(inputs, ids, texts)
    found = search(partial(scores_by, method), images, SentencesOf(method, pairs), asked, top)
    rows = found_rows(found, asked, images.image_ids, ids, texts)
    rows["unknown_words"] = _unknown_words(inputs, rows["caption_id"].to_numpy(object))
    schema.write(rows, FOUND, output, made_from)


def found_rows(
    found: Answers,
    asked: Literal["sentences", "photographs"],
    image_ids: Ids,
    caption_ids: Ids,
    texts: Ids,
) -> pd.DataFrame:
    """The rows of a FOUND artifact, without unknown words, by the ids and texts of both sides."""
    image, sentence = (found.row, found.query) if asked == "sentences" else (found.query, found.row)
    return pd.DataFrame(
        {
            "query": found.query.astype(np.int32),
            "rank": (1 + np.arange(len(found.query)) - np.searchsorted(found.query, found.query)).astype(np.int32),
            "image_id": image_ids[image],
            "caption_id": caption_ids[sentence],
            "text": texts[sentence],
            "unknown_words": [[] for _ in found.row],
            "score": found.score,
        }
    )


def _unknown_words(inputs: Inputs, caption_ids: NDArray[np.object_]) -> list[list[str]]:
    """The unknown words of each caption; empty for models without a vocabulary."""
    if not inputs.knows_words:
        return [[] for _ in caption_ids]
    known = inputs.vocabulary
    return [[word for word in tokens if word not in known] for tokens in inputs.tokens_of(caption_ids)]


def _check_understood(inputs: Inputs, caption_ids: NDArray[np.object_], texts: NDArray[np.object_]) -> None:
    """Raises `InputError` that names sentences without a known word, or unparsed ones if the model reads parses."""
    known = inputs.vocabulary
    nothing = [not any(word in known for word in tokens) for tokens in inputs.tokens_of(caption_ids)]
    if any(nothing):
        raise InputError(
            f"sentences: the model knows no word of {_quoted(texts[nothing])}. Put it in words that its training "
            f"sentences had: {inputs.files.one('words')} lists them."
        )
    if "parses" in inputs.files:
        failed = sorted(inputs.unparsed(caption_ids))
        if failed:
            raise InputError(
                f"sentences: {_quoted(texts[failed])} could not be parsed, and the model reads parses "
                f"({inputs.files.several('parses')[0]} says why). Put it in other words, or name a variant that reads "
                "words alone, such as vse."
            )


def _quoted(texts: NDArray[np.object_]) -> str:
    return ", ".join(map(repr, texts))
