"""Candidates for the sentence about an image, and what they are ranked by (Kiros et al. 2014, "Decoder").

The translation score s(x, v) is the likeness of image and sentence in the joint space; beside it stands an n-gram
model of the training sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from densevse.data.contents import Contents
from densevse.inference.encoding import evaluation
from densevse.inference.spaces import encode_words
from densevse.language.ngrams import KneserNey
from densevse.methods.interface import DualEncoder, Embeddings


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


def rated(candidates: Sequence[Candidate], images: Contents, space: DualEncoder, model: KneserNey) -> list[Candidate]:
    """The candidates with their translation scores, and the mean log probability of their words by an n-gram model."""
    sentences = sorted({one.words for one in candidates}, key=lambda words: (len(words), words))
    language = {words: model.log_probability(words) / (len(words) + 1) for words in sentences}
    row = {words: number for number, words in enumerate(sentences)}
    vectors, found = encode_words(space, sentences).vectors.cpu(), []
    with evaluation(space):
        for image, group in groupby(sorted(candidates, key=lambda one: one.image), lambda one: one.image):
            some = list(group)
            of_image = Embeddings(images.take(np.array([image])))
            of_sentences = Embeddings(vectors[[row[one.words] for one in some]])
            scores = space.score(of_image, of_sentences)[0].tolist()
            found += [
                replace(one, translation=score, language=language[one.words])
                for one, score in zip(some, scores, strict=True)
            ]
    return found
