"""The constituency trees of sentences, as the parser found them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densevse.data.files import Artifacts
from densevse.data.ragged import RaggedNumbers
from densevse.data.structures import Structure
from densevse.language.trees import read_tree
from densevse.methods.structures import Trees
from densevse.runtime.arrays import Indices
from snakeproof.logs import logger


@dataclass(frozen=True)
class Forest(Structure):
    """All trees of a split, one after the other in the order of its sentences.

    A node's five numbers are its word (-1 at phrases), its parent (counted within the sentence, -1 at the root), 1 at
    noun phrases, and the first token of its span and the one after its last.
    """

    caption_ids: NDArray[np.object_]  # (S,)
    nodes: RaggedNumbers
    alike: tuple[Indices, Indices] | None = None  # which nodes are the same, found once and not in every batch

    @classmethod
    def read(cls, artifacts: Artifacts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads parses; a sentence that could not be parsed gets a flat tree: its words under one root, no phrases.

        The log says how many sentences that were.
        """
        plain, known = artifacts.unparsed_tokens(caption_ids), artifacts.vocabulary
        if plain:
            logger.warning(
                "%d of %d sentences could not be parsed and have a flat tree of their words; the first is %s",
                len(plain),
                len(caption_ids),
                caption_ids[min(plain)],
            )

        def nodes(place: int, tokens: Sequence[str], bracketed: str) -> NDArray[np.int64]:
            if place in plain:
                tokens, bracketed = _flat_tree(plain[place])
            tree = read_tree(bracketed)
            words = np.append(known.encode(token.lower() for token in tokens), -1)[tree.token]
            return np.column_stack((words, tree.parent, tree.noun_phrase, tree.start, tree.end))

        parses = artifacts.parses(caption_ids, ["tokens", "tree"])
        found = ((place, nodes(place, tokens, tree)) for place, tokens, tree in parses)
        forest = cls(caption_ids, RaggedNumbers.from_lists(len(caption_ids), 5, found))
        return replace(forest, alike=forest.take(np.arange(len(caption_ids))).find_same_nodes())

    def take(self, sentences: Indices) -> Trees:
        """The trees of some sentences, nodes numbered together."""
        (word, parent, noun_phrase, _, _), owner, _ = self.nodes.take(sentences)
        lengths, nodes = self.nodes.lists.lengths(sentences), self.nodes.lists.take(sentences)[0]
        ends = np.cumsum(lengths)
        return Trees(
            word=word,
            parent=np.where(parent < 0, -1, parent + (ends - lengths)[owner]),
            noun_phrase=noun_phrase.astype(np.bool_),
            root=ends - 1,
            alike=None if self.alike is None else (self.alike[0][nodes], self.alike[1][nodes]),
        )

    def lengths(self, sentences: Indices) -> Indices:
        """The numbers of nodes of the trees of some sentences."""
        return self.nodes.lists.lengths(sentences)

    def spans(self, sentences: Indices) -> tuple[Indices, Indices]:
        """The first token of each node of the same trees, and the one after its last, counted within the sentence."""
        (_, _, _, start, end), _, _ = self.nodes.take(sentences)
        return start, end

    def find(self, sentence: Indices, start: Indices, end: Indices) -> Indices:
        """The node (counted within its sentence) that spans given tokens of a sentence; -1 if there is none."""
        (_, _, _, starts, ends), owner, place = self.nodes.take(np.arange(len(self.caption_ids)))
        spans = _span(owner, starts, ends)
        order = np.argsort(spans)
        wanted = _span(sentence, start, end)
        found = order[np.searchsorted(spans[order], wanted).clip(max=len(order) - 1)]
        return np.where(spans[found] == wanted, place[found], -1)


def _flat_tree(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """The tokens and the tree of a sentence without structure; an empty sentence is one unknown word."""
    return words or [""], "(ROOT " + " ".join("(X x)" for _ in words or [""]) + ")"


def _span(sentence: Indices, start: Indices, end: Indices) -> Indices:
    """One number for each span, for sentences of fewer than 65,536 tokens."""
    return sentence << 32 | start << 16 | end


STRUCTURE = Forest
