"""Candidate sentences about an image, and the scores that rank them (Kiros et al. 2014, "Decoder").

A candidate is ranked by the translation score s(x, v), the similarity of image and sentence in the joint space, and by
an n-gram model of the training sentences. The rankings by likelihood are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from densevse.config.generators import Decoding
from densevse.data.contents import Contents
from densevse.inference.encoding import evaluation
from densevse.inference.spaces import encode_words
from densevse.language.ngrams import KneserNey
from densevse.methods.interface import DualEncoder, Embeddings


@dataclass(frozen=True)
class Candidate:
    """A sentence about an image, before ranking."""

    image: int  # the image's number in the split
    words: tuple[int, ...]
    tags: tuple[int, ...]
    log_likelihood: float  # log P(words | tags, v), with the end of the sentence
    log_tags: float = 0.0  # log P(tags); 0 without structure, or where the tags are given
    translation: float | None = None
    language: float | None = None

    def score(self, decoding: Decoding) -> float:
        """The score that ranks the candidate."""
        if decoding.ranking == "translation":
            if self.translation is None or self.language is None:
                return self.log_likelihood
            return self.translation + decoding.language_weight * self.language
        tags = self.log_tags if decoding.ranking == "joint_likelihood" else 0.0
        return (self.log_likelihood + tags) / (len(self.words) + 1)


def ranked(candidates: Sequence[Candidate], decoding: Decoding) -> dict[int, list[Candidate]]:
    """The distinct sentences about each image, the best first; images are in order.

    Of equal sentences, which may come from different tags, the best is kept; of equally good ones, the most likely.
    Equal scores are ordered by their words' numbers.
    """

    def order(one: Candidate) -> tuple[int, float, tuple[int, ...], float]:
        return one.image, -one.score(decoding), one.words, -one.log_likelihood

    found: dict[int, dict[tuple[int, ...], Candidate]] = {}
    for one in sorted(candidates, key=order):
        found.setdefault(one.image, {}).setdefault(one.words, one)
    return {image: list(sentences.values()) for image, sentences in found.items()}


def rated(candidates: Sequence[Candidate], images: Contents, space: DualEncoder, model: KneserNey) -> list[Candidate]:
    """Adds to candidates their translation scores and the mean log probability of their words by an n-gram model."""
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
