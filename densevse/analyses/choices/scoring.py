"""The job that scores the sentences of questions by a trained model, beside their images and beside others."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor

from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.evaluation.choices import CHOICE_SCORES, CHOICES, draw_others
from densevse.evaluation.retrieval import versions
from densevse.methods.interface import Embeddings, Encoding, Method
from densevse.models.encoding import encode_images, encode_sentences, select_rows
from densevse.models.files import open_new_data
from densevse.models.scoring import score_in_tiles
from densevse.runtime.arrays import Indices, Reals
from densevse.runtime.numerics import set_up
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import progress


def score_choices(
    model: str,
    questions: str,
    known_captions: str,
    threads: int,
    seed: int,
    output: str,
    **files: str | list[str],
) -> None:
    """The job that writes CHOICE_SCORES by a trained `model`: beside each image, and the means beside other images.

    `files` are the model's inputs about the images, and about the sentences of the questions in their order.
    `known_captions` are those of the images, of which blind choices have none in common. Raises `InputError` as
    `choice_scores` does.
    """
    inputs, method = open_new_data(Files(files), model, set_up(threads))
    captions = schema.read(known_captions, CAPTIONS, ["image_id", "text"])
    rows = choice_scores(method, inputs, schema.read(questions, CHOICES), captions, seed)
    schema.write(rows, CHOICE_SCORES, output, versions=versions())


def choice_scores(
    method: Method, inputs: Inputs, asked: pd.DataFrame, captions: pd.DataFrame, seed: int
) -> list[dict[str, Any]]:
    """CHOICE_SCORES rows of the questions that are `asked`, whose sentences are those of `inputs`, in their order.

    Raises `InputError` for an image that is not of the split test, or for which there is no other.
    """
    images, sentences = inputs.all_images("test", method.regions_read), inputs.all_sentences("test")
    names = pd.Index(images.rows.image_ids)
    known = captions.rename(columns={"image_id": "image"})[captions["image_id"].isin(names).to_numpy()]
    families = dict(zip(names, images.rows.family_of_image, strict=True))
    others = draw_others(known, families, seed)
    beside = [[image, *others.get(image, [])] for image in asked["image"]]
    wrong = next((some[0] for some in beside if some[0] not in names or len(some) < 2), None)
    if wrong is not None:
        raise InputError(f"questions: {wrong!r} is no readable test image, or no other differs from it; leave it out.")
    scored = _score_questions(
        (method, encode_images(method, images), encode_sentences(method, sentences)),
        [names.get_indexer(pd.Index(some)) for some in beside],
        np.cumsum([0, *(1 + len(texts) for texts in asked["wrong"])]),
    )
    columns = [column.name for column in CHOICE_SCORES.columns]
    return [
        dict(zip(columns, (name, *own, *blind), strict=True))
        for name, (own, blind) in zip(asked["question"], scored, strict=True)
    ]


def _score_questions(
    encoded: tuple[Method, Encoding, Encoding], beside: list[Indices], bounds: Indices
) -> Iterator[tuple[Reals, Reals]]:
    """For each question: (2, sentences) the scores beside its first image and their sizes; and the means of the others.

    `beside` has the rows of a question's images, and `bounds` the rows where the sentences of the questions begin.
    """
    method, images, sentences = encoded
    found = [
        np.zeros((2, len(rows), last - first)) for rows, (first, last) in zip(beside, pairwise(bounds), strict=True)
    ]
    question = np.repeat(np.arange(len(beside)), [len(rows) for rows in beside])
    place = np.concatenate([np.arange(len(rows)) for rows in beside])
    image = np.concatenate(beside)
    for row in progress(np.unique(image), "choices"):
        some = np.flatnonzero(image == row)
        spans = [np.arange(bounds[one], bounds[one + 1]) for one in question[some]]
        here = select_rows(images, np.array([row])), select_rows(sentences, np.concatenate(spans))
        both = np.stack([part[0].float().cpu().numpy() for part in _scores_and_sizes(method, *here)])
        parts = np.split(both, np.cumsum([len(span) for span in spans])[:-1], axis=1)
        for one, number, part in zip(question[some], place[some], parts, strict=True):
            found[one][:, number] = part
    return ((of[:, 0], of[:, 1:].mean(axis=1)) for of in found)


def _scores_and_sizes(method: Method, images: Encoding, sentences: Encoding) -> tuple[Tensor, Tensor]:
    """(I, S) the scores, and the sums of the sizes of their terms.

    Products of vectors have terms of either sign. All other scores here are sums of terms of one sign, such as the best
    matches of words, so that their own size is the sum.
    """
    scores = score_in_tiles(method, images, sentences)
    if not (isinstance(images, Embeddings) and isinstance(sentences, Embeddings)):
        return scores, scores.abs()
    of_images, of_sentences = (one.vectors.abs() for one in (images, sentences))
    return scores, of_images @ of_sentences.T
