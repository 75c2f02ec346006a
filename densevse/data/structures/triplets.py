"""The dependency triplets of sentences, which are DeFrag's fragments (section 3.1)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densevse.data.files import Artifacts
from densevse.data.ragged import RaggedNumbers
from densevse.data.structures import Structure
from densevse.language.triplets import (
    dependency_column,
    numbered_relations,
    read_dependency_kind,
    select_dependencies,
    word_dependencies,
)
from densevse.language.words import UNKNOWN
from densevse.methods.structures import Triplets
from densevse.runtime.arrays import Indices


class TripletsOfSentences(Structure):
    """The triplets of all sentences of a split, sentence after sentence.

    A triplet is kept if its relation makes up at least 1% of those in training and both its words are known. A sentence
    that could not be parsed has none. The job's relations decide between the kinds of dependencies.
    """

    def __init__(self, triplets: RaggedNumbers) -> None:
        """A triplet's five numbers are relation, governor and dependent, then the tokens of both words."""
        self._triplets = triplets

    @classmethod
    def read(cls, artifacts: Artifacts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads the parses' dependencies."""
        path = artifacts.files.input_path("relations")
        relations, kind = numbered_relations(path), read_dependency_kind(path)
        known = artifacts.vocabulary

        def numbers(tokens: list[str], dependencies: Any) -> list[tuple[int, ...]]:
            words = known.encode(token.lower() for token in tokens)
            return [
                (relations[relation], words[governor], words[dependent], governor, dependent)
                for relation, governor, dependent in word_dependencies(select_dependencies(dependencies, kind))
                if relation in relations and UNKNOWN not in (words[governor], words[dependent])
            ]

        parses = artifacts.parses(caption_ids, ["tokens", dependency_column(kind)])
        found = ((place, numbers(tokens, dependencies)) for place, tokens, dependencies in parses)
        return cls(RaggedNumbers.from_lists(len(caption_ids), 5, found))

    @classmethod
    def sizes(cls, artifacts: Artifacts) -> dict[str, int]:
        """The number of relations."""
        return {"relations": len(numbered_relations(artifacts.files.input_path("relations")))}

    def take(self, sentences: Indices) -> Triplets:
        """The triplets of some sentences."""
        (relation, governor, dependent, _, _), _, _ = self._triplets.take(sentences)
        return Triplets(relation, governor, dependent, self._triplets.lists.lengths(sentences))

    def tokens(self, sentences: Indices) -> Indices:
        """(triplets, 2) of the same sentences: the tokens of governor and dependent, counted within the sentence."""
        return self._triplets.take(sentences)[0][3:].T


STRUCTURE = TripletsOfSentences
