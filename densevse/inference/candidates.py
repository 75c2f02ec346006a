"""Candidates for the sentence about an image, and what they are ranked by (Kiros et al. 2014, "Decoder").

The translation score s(x, v) is the likeness of image and sentence in the joint space; beside it stands an n-gram
model of the training sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.batches.contents import Contents
from densevse.errors import InputError
from densevse.inference.encoding import batches, evaluation
from densevse.inference.models import described, load_model
from densevse.language.ngrams import KneserNey
from densevse.methods.interface import DualEncoder, Sentences
from densevse.methods.structures import words_of

SENTENCES_AT_ONCE = 512


@dataclass(frozen=True)
class Candidate:
    """A sentence about an image that has not been ranked yet."""

    image: int  # its number in the split
    words: tuple[int, ...]
    tags: tuple[int, ...]
    log_likelihood: float
    translation: float | None = None
    language: float | None = None

    def score(self, language_weight: float) -> float:
        """What it is ranked by."""
        if self.translation is None or self.language is None:
            return self.log_likelihood
        return self.translation + language_weight * self.language


def read_space(path: str) -> DualEncoder:
    """The model of a joint space. Raises `InputError` if it is none, or reads more of sentences than words."""
    sentences, space = described(path)["sentences"], load_model(path)
    if not isinstance(space, DualEncoder) or sentences != ["words"]:
        raise InputError(
            f"{path}: sentences that are generated can only be rated by a model whose images and sentences are vectors "
            f"of one space, and that reads words alone; this one is {type(space).__name__} and reads {sentences}. Name "
            "another variant as the generator's `space`."
        )
    return space


def rated(candidates: Sequence[Candidate], images: Contents, space: DualEncoder, model: KneserNey) -> list[Candidate]:
    """The candidates with their translation scores, and the mean log probability of their words by an n-gram model."""
    sentences = sorted({one.words for one in candidates}, key=lambda words: (len(words), words))
    language = {words: model.log_probability(words) / (len(words) + 1) for words in sentences}
    row = {words: number for number, words in enumerate(sentences)}
    vectors, found = _embedded(sentences, space), []
    with evaluation(space):
        for image, group in groupby(sorted(candidates, key=lambda one: one.image), lambda one: one.image):
            some = list(group)
            of_image = (images.take(np.array([image])),)
            scores = space.score(of_image, (vectors[[row[one.words] for one in some]],))[0].tolist()
            found += [
                replace(one, translation=score, language=language[one.words])
                for one, score in zip(some, scores, strict=True)
            ]
    return found


def _embedded(sentences: Sequence[tuple[int, ...]], space: DualEncoder) -> Tensor:
    """(S, dimension) vectors in the joint space."""
    device, found = next(space.parameters()).device, []
    with evaluation(space):
        for rows in batches(len(sentences), SENTENCES_AT_ONCE):
            words = words_of(padded([sentences[row] for row in rows]), device)
            found.append(space.embed_sentences(Sentences({"words": words})).cpu())
    return torch.cat(found)


def padded(sentences: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """(S, longest) word numbers of sentences, with 0 after the last."""
    index = np.zeros((len(sentences), max(map(len, sentences))), np.int64)
    for row, sentence in enumerate(sentences):
        index[row, : len(sentence)] = sentence
    return index
