"""The constituency trees of a split's sentences as flat arrays, and the phrases in them that are given regions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.errors import InputError
from densevse.language.trees import Tree, read_tree
from densevse.language.words import Vocabulary, tokenize
from densevse.logs import logger
from densevse.methods.interface import Correspondences, Trees
from densevse.training.ragged import Indices, Ragged


@dataclass(frozen=True)
class Forest:
    """All trees of a split, one after the other in the order of its sentences."""

    caption_ids: NDArray[np.object_]  # (S,)
    nodes: Ragged  # which nodes are a sentence's
    word: Indices  # (nodes,) word index of a leaf, -1 at phrases
    parent: Indices  # (nodes,) counted within the sentence, -1 at the root
    noun_phrase: NDArray[np.bool_]  # (nodes,)
    start: Indices  # (nodes,) token span
    end: Indices

    @classmethod
    def read(cls, parses: pd.DataFrame, captions: pd.DataFrame, vocabulary: Vocabulary) -> Self:
        """Read the trees of `captions` (caption_id, text), in their order, from PARSES rows.

        A sentence that could not be parsed has a flat tree: its words under one root, without phrases. The log says
        how many there are. Raises `InputError` naming a caption that was never given to the parser.
        """
        columns = (parses[name] for name in ("caption_id", "status", "tokens", "tree"))
        parsed = {row[0]: row[1:] for row in zip(*columns, strict=True)}
        trees, words, failed = [], [], []
        for caption_id, text in zip(captions["caption_id"], captions["text"], strict=True):
            if caption_id not in parsed:
                raise InputError(f"caption {caption_id!r} is in no parse file; delete the parses and run snakemake.")
            status, tokens, bracketed = parsed[caption_id]
            if status != "ok":
                failed.append(caption_id)
                tokens, bracketed = _flat(tokenize(text))
            tree = read_tree(bracketed)
            index = vocabulary.encode([token.lower() for token in tokens])
            trees.append(tree)
            words.append(np.append(index, -1)[tree.token])
        if failed:
            logger.warning(
                "%d of %d sentences could not be parsed and have a flat tree of their words; the first is %s",
                len(failed),
                len(trees),
                failed[0],
            )
        return cls._joined(captions["caption_id"].to_numpy(dtype=object), trees, words)

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

    def trees(self, sentences: Indices) -> Trees:
        """The trees of some sentences, nodes numbered together."""
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
        """Which node (counted within its sentence) spans these tokens of a sentence; -1 where none does."""
        _, owner, place = self.nodes.take(np.arange(len(self.caption_ids)))
        spans = _span(owner, self.start, self.end)
        order = np.argsort(spans)
        wanted = _span(sentence, start, end)
        found = order[np.searchsorted(spans[order], wanted).clip(max=len(order) - 1)]
        return np.where(spans[found] == wanted, place[found], -1)


@dataclass(frozen=True)
class PhraseRegions:
    """The region that each noun phrase is assigned to, one phrase after the other in the order of the sentences."""

    phrases: Ragged  # which phrases are a sentence's
    node: Indices  # (phrases,) counted within the sentence
    region: Indices  # (phrases,)
    confidence: NDArray[np.float32]  # (phrases,)

    @classmethod
    def read(cls, rows: pd.DataFrame, forest: Forest) -> Self:
        """Join CORRESPONDENCES rows with the trees by caption and token span.

        Rows of other splits' captions are passed over. Raises `InputError` naming a phrase that its tree does not have.
        """
        sentence = pd.Index(forest.caption_ids).get_indexer(pd.Index(rows["caption_id"]))
        rows, sentence = rows[sentence >= 0], sentence[sentence >= 0]
        start, end = rows["start"].to_numpy(np.int64), rows["end"].to_numpy(np.int64)
        node = forest.find(sentence, start, end)
        if (node < 0).any():
            unknown = int(np.argmin(node))
            raise InputError(
                f"correspondences: the tree of caption {rows['caption_id'].iloc[unknown]!r} has no phrase of "
                f"tokens {start[unknown]} to {end[unknown]}; they were made from other parses. Delete them and run "
                "snakemake again."
            )
        order = np.lexsort((node, sentence))
        return cls(
            Ragged.of_lengths(np.bincount(sentence, minlength=len(forest.caption_ids))),
            node[order],
            rows["region"].to_numpy(np.int64)[order],
            rows["confidence"].to_numpy(np.float32)[order],
        )

    def correspondences(self, sentences: Indices, forest: Forest) -> Correspondences:
        """The phrases of some sentences; a phrase's weight w_dk is its confidence (HM-LSTM, section 3.3)."""
        rows, owner, _ = self.phrases.take(sentences)
        lengths = forest.nodes.lengths(sentences)
        node = self.node[rows] + (np.cumsum(lengths) - lengths)[owner]
        return Correspondences(*map(torch.from_numpy, (owner, node, self.region[rows], self.confidence[rows])))


def _flat(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """The tokens and the tree of a sentence without structure; an empty one is a single word nobody knows."""
    return words or [""], "(ROOT " + " ".join("(X x)" for _ in words or [""]) + ")"


def _span(sentence: Indices, start: Indices, end: Indices) -> Indices:
    """One number a span, for sentences of fewer than 65,536 tokens."""
    return sentence << 32 | start << 16 | end


def _flattened(arrays: Iterable[NDArray[np.generic]]) -> Indices:
    return np.concatenate([*arrays, np.empty(0, np.int64)]).astype(np.int64)
