"""The dependency triplets of sentences, which are DeFrag's fragments (section 3.1)."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from densevse.data.ragged import Ragged
from densevse.data.structures import Structure
from densevse.data.texts import Texts
from densevse.language.triplets import between_words, kind_of, numbered_relations, tuples_of
from densevse.language.words import UNKNOWN
from densevse.methods.structures import Triplets
from densevse.runtime.arrays import Indices


class TripletsOfSentences(Structure):
    """The triplets of all sentences of a split, sentence after sentence.

    A triplet is kept if its relation makes up at least 1% of those in training and both its words are known. A sentence
    that could not be parsed has none. The job's relations decide between enhanced and basic dependencies.
    """

    def __init__(self, lengths: list[int], numbers: NDArray[np.int64]) -> None:
        """`numbers` (triplets, 5): relation, governor and dependent, then the tokens of both words."""
        self._sentences, self._numbers = Ragged.of_lengths(lengths), numbers

    @classmethod
    def read(cls, texts: Texts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads the parses' dependencies."""
        path = texts.files.one("relations")
        relations, column = numbered_relations(path), f"{kind_of(path)}_dependencies"
        parses = texts.parses_of(caption_ids, ["tokens", column])
        found = []
        for tokens, dependencies in zip(parses["tokens"], parses[column], strict=True):
            words = texts.vocabulary.encode([token.lower() for token in tokens])
            found.append(
                [
                    (relations[relation], words[governor], words[dependent], governor, dependent)
                    for relation, governor, dependent in between_words(tuples_of(dependencies))
                    if relation in relations and UNKNOWN not in (words[governor], words[dependent])
                ]
            )
        numbers = np.array([each for sentence in found for each in sentence], np.int64).reshape(-1, 5)
        return cls([len(sentence) for sentence in found], numbers)

    @classmethod
    def sizes(cls, texts: Texts) -> dict[str, int]:
        """The number of relations."""
        return {"relations": len(numbered_relations(texts.files.one("relations")))}

    def take(self, sentences: Indices) -> Triplets:
        """The triplets of some sentences."""
        items, _, _ = self._sentences.take(sentences)
        relation, governor, dependent = self._numbers[items, :3].T
        return Triplets(relation, governor, dependent, self._sentences.lengths(sentences))

    def tokens(self, sentences: Indices) -> Indices:
        """(triplets, 2) the tokens of governor and dependent, counted within the sentence, for the same sentences."""
        items, _, _ = self._sentences.take(sentences)
        return self._numbers[items, 3:]


STRUCTURE = TripletsOfSentences
