"""The dependency triplets of sentences, the fragments of DeFrag (section 3.1)."""

from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from numpy.typing import NDArray

from densevse.batches.ragged import Indices, Ragged
from densevse.batches.structures import Structure
from densevse.language.triplets import kind_of, known_triplets, numbered_relations, triplets, tuples_of
from densevse.methods.structures import Triplets

if TYPE_CHECKING:
    from densevse.batches.inputs import Inputs


class TripletsOfSentences(Structure):
    """The triplets of all sentences of a split, one sentence after the other.

    Those count whose relation makes up at least 1% of training's and whose words are both known. A sentence that could
    not be parsed has none. Whether they are enhanced or basic dependencies, the job's relations say.
    """

    def __init__(self, lengths: list[int], numbers: NDArray[np.int64]) -> None:
        """`numbers` (triplets, 3) are relation, governor and dependent."""
        self._sentences, self._numbers = Ragged.of_lengths(lengths), numbers

    @classmethod
    def read(cls, inputs: "Inputs", caption_ids: NDArray[np.object_]) -> Self:
        """From the parses' dependencies."""
        path, words = inputs.files.one("relations"), inputs.vocabulary
        relations, column = numbered_relations(path), f"{kind_of(path)}_dependencies"
        parses = inputs.parses_of(caption_ids, ["tokens", column])
        found = [
            known_triplets(triplets(list(tokens), tuples_of(dependencies)), set(relations), words)
            for tokens, dependencies in zip(parses["tokens"], parses[column], strict=True)
        ]
        numbers = [
            (relations[each.relation], words.index(each.governor), words.index(each.dependent))
            for sentence in found
            for each in sentence
        ]
        return cls([len(sentence) for sentence in found], np.array(numbers, np.int64).reshape(-1, 3))

    @classmethod
    def sizes(cls, inputs: "Inputs") -> dict[str, int]:
        """How many relations there are, one for all rare ones together included."""
        return {"relations": 1 + len(numbered_relations(inputs.files.one("relations")))}

    def take(self, sentences: Indices) -> Triplets:
        """The triplets of some sentences."""
        items, _, _ = self._sentences.take(sentences)
        relation, governor, dependent = torch.from_numpy(self._numbers[items]).T.contiguous()
        return Triplets(relation, governor, dependent, torch.from_numpy(self._sentences.lengths(sentences)))


STRUCTURE = TripletsOfSentences
