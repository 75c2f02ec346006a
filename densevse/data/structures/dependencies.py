"""Dependency trees of sentences, for the SDT-RNN with which DeFrag is compared (section 4)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densevse.data.ragged import Ragged
from densevse.data.structures import Structure
from densevse.data.texts import Texts
from densevse.language.triplets import PUNCTUATION, numbered_relations, tuples_of
from densevse.language.words import spoken
from densevse.methods.structures import Dependencies
from densevse.runtime.arrays import Indices


class DependencyTrees(Structure):
    """The words of all sentences of a split with their heads, sentence after sentence, without punctuation.

    A word without a head is a root. In a sentence that could not be parsed, all words are roots.
    """

    def __init__(self, lengths: list[int], nodes: NDArray[np.int64]) -> None:
        """`nodes` (nodes, 3): word, head (counted within the sentence, -1 at a root) and relation."""
        self._sentences, self._nodes = Ragged.of_lengths(lengths), nodes

    @classmethod
    def read(cls, texts: Texts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads the parses' basic dependencies."""
        relations = numbered_relations(texts.files.one("relations"))
        parses = texts.parses_of(caption_ids, ["status", "tokens", "basic_dependencies"])
        unparsed = (parses["status"] != "ok").to_numpy()
        plain = iter(texts.tokens_of(caption_ids[unparsed]) if unparsed.any() else [])
        columns = zip(unparsed, parses["tokens"], parses["basic_dependencies"], strict=True)
        sentences = []
        for missing, tokens, dependencies in columns:
            words = list(spoken(next(plain))) if missing else [token.lower() for token in tokens]
            sentences.append(_nodes(texts.vocabulary.encode(words), [] if missing else dependencies, relations))
        return cls([len(nodes) for nodes in sentences], np.concatenate(sentences))

    @classmethod
    def sizes(cls, texts: Texts) -> dict[str, int]:
        """The number of relations, all rare ones counting as one."""
        return {"relations": 1 + len(numbered_relations(texts.files.one("relations")))}

    def take(self, sentences: Indices) -> Dependencies:
        """The trees of some sentences, with all nodes numbered together."""
        items, owner, _ = self._sentences.take(sentences)
        lengths = self._sentences.lengths(sentences)
        word, head, relation = self._nodes[items].T
        first = (np.cumsum(lengths) - lengths)[owner]
        return Dependencies(word.copy(), np.where(head < 0, -1, head + first), relation.copy(), lengths)


def _nodes(tokens: list[int], dependencies: Any, relations: dict[str, int]) -> NDArray[np.int64]:
    """(words, 3) word, head and relation of each word; rare relations and ROOT have the last number.

    Punctuation marks are left out. A word whose head is a punctuation mark (one mark in a thousand has one) is a root.
    """
    links = {dependent: (governor, relation) for relation, governor, dependent in tuples_of(dependencies)}
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
