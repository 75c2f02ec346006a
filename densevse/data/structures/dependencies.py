"""Dependency trees of sentences, for the SDT-RNN with which DeFrag is compared (section 4)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densevse.data.files import Artifacts
from densevse.data.ragged import RaggedNumbers
from densevse.data.structures import Structure
from densevse.language.triplets import PUNCTUATION, dependency_tuples, numbered_relations
from densevse.language.words import drop_punctuation
from densevse.methods.structures import Dependencies
from densevse.runtime.arrays import Indices


class DependencyTrees(Structure):
    """The words of all sentences of a split with their heads, sentence after sentence, without punctuation.

    A word without a head is a root. In a sentence that could not be parsed, all words are roots.
    """

    def __init__(self, nodes: RaggedNumbers) -> None:
        """A node's three numbers are word, head (counted within the sentence, -1 at a root) and relation."""
        self._nodes = nodes

    @classmethod
    def read(cls, artifacts: Artifacts, caption_ids: NDArray[np.object_]) -> Self:
        """From the parses' basic dependencies."""
        relations, known = numbered_relations(artifacts.files.input_path("relations")), artifacts.vocabulary
        plain = artifacts.unparsed_tokens(caption_ids)

        def nodes(place: int, tokens: list[str], dependencies: Any) -> NDArray[np.int64]:
            if place in plain:
                return _nodes(known.encode(drop_punctuation(plain[place])), [], relations)
            return _nodes(known.encode(token.lower() for token in tokens), dependencies, relations)

        parses = artifacts.parses(caption_ids, ["tokens", "basic_dependencies"])
        found = ((place, nodes(place, tokens, dependencies)) for place, tokens, dependencies in parses)
        return cls(RaggedNumbers.from_lists(len(caption_ids), 3, found))

    @classmethod
    def sizes(cls, artifacts: Artifacts) -> dict[str, int]:
        """The number of relations, all rare ones counting as one."""
        return {"relations": 1 + len(numbered_relations(artifacts.files.input_path("relations")))}

    def take(self, sentences: Indices) -> Dependencies:
        """The trees of some sentences, nodes numbered together."""
        (word, head, relation), owner, _ = self._nodes.take(sentences)
        lengths = self._nodes.lists.lengths(sentences)
        first = (np.cumsum(lengths) - lengths)[owner]
        return Dependencies(word, np.where(head < 0, -1, head + first), relation, lengths)


def _nodes(tokens: list[int], dependencies: Any, relations: dict[str, int]) -> NDArray[np.int64]:
    """(words, 3) word, head and relation of each word; rare relations and ROOT have the last number.

    Punctuation marks are left out. A word whose head is a punctuation mark (one mark in a thousand has one) is a root.
    """
    links = {dependent: (governor, relation) for relation, governor, dependent in dependency_tuples(dependencies)}
    marks = {token for token, (_, relation) in links.items() if relation == PUNCTUATION}
    words = [token for token in range(len(tokens)) if token not in marks]
    place = {token: number for number, token in enumerate(words)}
    heads = [links.get(token, (-1, "")) for token in words]
    nodes = [
        (tokens[token], place.get(governor, -1), relations.get(relation, len(relations)))
        for token, (governor, relation) in zip(words, heads, strict=True)
    ]
    return np.array(nodes, np.int64).reshape(-1, 3)


STRUCTURE = DependencyTrees
