"""Answers a search with a person's own sentences or photographs."""

from functools import partial
from pathlib import Path
from typing import Literal

import pandas as pd

from densevse.analyses.searches.schemas import FOUND
from densevse.analyses.searches.searching import Ids, SentencesOf, found_rows, scores_by, search
from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.inference.encodings import KeptImages
from densevse.methods.interface import Method, device_of
from densevse.models.files import open_alone
from densevse.runtime.errors import InputError
from densevse.runtime.numerics import set_up


def write_answers(
    model: str,
    encodings: str,
    output: str,
    split: str,
    asked: Literal["sentences", "photographs"],
    top: int,
    threads: int,
    **files: str | list[str],
) -> None:
    """The job that finds the `top` best answers to each query by a trained `model`, and writes a FOUND artifact.

    `files` are the model's inputs about the sentences. Raises `InputError` as `answers` does, or if the files do not
    fit the model.
    """
    named = Files(files)
    inputs, method = open_alone(named, model, set_up(threads))
    rows = answers(method, inputs, encodings, split, asked, top)
    parents = {"model": model, "encodings": encodings, "captions": named.one("caption_table")}
    schema.write(rows, FOUND, output, lineage({"asked": asked, "top": top, "split": split}, parents))


def answers(
    method: Method,
    inputs: Inputs,
    encodings: str | Path,
    split: str,
    asked: Literal["sentences", "photographs"],
    top: int,
) -> pd.DataFrame:
    """The FOUND rows of the `top` best answers to each query.

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
    return rows


def _unknown_words(inputs: Inputs, caption_ids: Ids) -> list[list[str]]:
    """The unknown words of each caption; empty for models without a vocabulary."""
    if not inputs.knows_words:
        return [[] for _ in caption_ids]
    known = inputs.vocabulary
    return [[word for word in tokens if word not in known] for tokens in inputs.tokens_of(caption_ids)]


def _check_understood(inputs: Inputs, caption_ids: Ids, texts: Ids) -> None:
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


def _quoted(texts: Ids) -> str:
    return ", ".join(map(repr, texts))
