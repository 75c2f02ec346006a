"""The constituency trees of sentences, as the parser found them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densevse.data.ragged import Ragged
from densevse.data.structures import Structure
from densevse.data.texts import Texts
from densevse.language.trees import Tree, read_tree
from densevse.methods.structures import Trees
from densevse.runtime.arrays import Indices
from densevse.runtime.logs import logger


@dataclass(frozen=True)
class Forest(Structure):
    """All trees of a split, one after the other in the order of its sentences."""

    caption_ids: NDArray[np.object_]  # (S,)
    nodes: Ragged  # the nodes of each sentence
    word: Indices  # (nodes,) word index of a leaf, -1 at phrases
    parent: Indices  # (nodes,) counted within the sentence, -1 at the root
    noun_phrase: NDArray[np.bool_]  # (nodes,)
    start: Indices  # (nodes,) token span
    end: Indices

    @classmethod
    def read(cls, texts: Texts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads parses; a sentence that could not be parsed gets a flat tree: its words under one root, no phrases.

        The log says how many sentences that were.
        """
        parses = texts.parses_of(caption_ids, ["status", "tokens", "tree"])
        unparsed = (parses["status"] != "ok").to_numpy()
        failed = caption_ids[unparsed]
        plain = iter(texts.tokens_of(failed) if len(failed) else [])
        trees, words = [], []
        columns = zip(unparsed, parses["tokens"], parses["tree"], strict=True)
        for missing, tokens, bracketed in columns:
            if missing:
                tokens, bracketed = _flat(next(plain))
            tree = read_tree(bracketed)
            index = texts.vocabulary.encode([token.lower() for token in tokens])
            trees.append(tree)
            words.append(np.append(index, -1)[tree.token])
        if len(failed):
            logger.warning(
                "%d of %d sentences could not be parsed and have a flat tree of their words; the first is %s",
                len(failed),
                len(trees),
                failed[0],
            )
        return cls._joined(caption_ids, trees, words)

    @classmethod
    def _joined(cls, caption_ids: NDArray[np.object_], trees: Sequence[Tree], words: Sequence[Indices]) -> Self:
        return cls(
            caption_ids,
            Ragged.of_lengths([len(tree.parent) for tree in trees]),
            _flattened(words),
            _flattened(tree.parent for tree in trees),
            _flattened(tree.noun_phrase for tree in trees).astype(np.bool_),
            _flattened(tree.start for tree in trees),
            _flattened(tree.end for tree in trees),
        )

    def take(self, sentences: Indices) -> Trees:
        """The trees of some sentences, with all nodes numbered together."""
        rows, owner, _ = self.nodes.take(sentences)
        ends = np.cumsum(self.nodes.lengths(sentences))
        offset = (ends - self.nodes.lengths(sentences))[owner]
        parent = self.parent[rows]
        return Trees(
            word=self.word[rows],
            parent=np.where(parent < 0, -1, parent + offset),
            noun_phrase=self.noun_phrase[rows],
            root=ends - 1,
        )

    def find(self, sentence: Indices, start: Indices, end: Indices) -> Indices:
        """The node (counted within its sentence) that spans these tokens of a sentence; -1 if there is none."""
        _, owner, place = self.nodes.take(np.arange(len(self.caption_ids)))
        spans = _span(owner, self.start, self.end)
        order = np.argsort(spans)
        wanted = _span(sentence, start, end)
        found = order[np.searchsorted(spans[order], wanted).clip(max=len(order) - 1)]
        return np.where(spans[found] == wanted, place[found], -1)


def _flat(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """The tokens and the tree of a sentence without structure; an empty sentence is one unknown word."""
    return words or [""], "(ROOT " + " ".join("(X x)" for _ in words or [""]) + ")"


def _span(sentence: Indices, start: Indices, end: Indices) -> Indices:
    """One number for each span, for sentences of fewer than 65,536 tokens."""
    return sentence << 32 | start << 16 | end


def _flattened(arrays: Iterable[NDArray[np.generic]]) -> Indices:
    return np.concatenate([*arrays, np.empty(0, np.int64)]).astype(np.int64)


STRUCTURE = Forest
