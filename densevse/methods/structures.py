"""Structures of sentences that a method can read, each a dataclass for a batch of S sentences.

A method's configuration names the structures that it reads (`sentences: [words, trees]`), and the method finds them by
these names (`sentences["words"]`). Tensors move to the method's device with their batch. NumPy arrays stay on the CPU,
which plans the order in which a tree or a recurrence is computed.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.kernels.arrays import Integers, tensor_on_device
from densevse.kernels.hlstm import find_same_nodes

UNKNOWN = 1  # the number of the unknown word, for words outside the vocabulary


@dataclass(frozen=True)
class Words:
    """The words of each sentence as numbers of the vocabulary; 0 is padding and 1 is the unknown word."""

    index: Tensor  # (S, longest) padded with 0
    lengths: Tensor  # (S,) how many words each sentence has, at least 1
    host: Integers | None = None  # a copy of `index` that never leaves the CPU

    def index_on_host(self) -> Integers:
        """(S, longest) `index` as a NumPy array; the device does not wait if the batch holds a copy on the CPU."""
        return self.index.cpu().numpy() if self.host is None else self.host

    def lengths_on_host(self) -> Integers:
        """(S,) `lengths` as a NumPy array, without waiting as in `index_on_host`."""
        lengths: Integers = (self.index_on_host() != 0).sum(axis=1)
        return lengths

    def cut(self, longest: int) -> "Words":
        """The first `longest` words of each sentence."""
        return Words(self.index[:, :longest], self.lengths.clamp(max=longest), self.index_on_host()[:, :longest])


def words_from_index(index: Integers, device: torch.device) -> Words:
    """The structure `words` for (S, longest) word numbers, padded with 0."""
    lengths = (index != 0).sum(axis=1)
    return Words(tensor_on_device(index.copy(), device), tensor_on_device(lengths, device), index)


@dataclass(frozen=True)
class Text:
    """Each sentence as the tokens of a network's own tokenizer."""

    tokens: Tensor  # (S, length) numbers of tokens, of the length that the network reads


@dataclass(frozen=True)
class Trees:
    """Constituency trees of a batch of sentences, all nodes numbered together, children before parents.

    A leaf is a pre-terminal with its word. A sentence's leaves are in the order of its words; its root is its last
    node.
    """

    word: Integers  # (nodes,) the leaf's word number, -1 at inner nodes
    parent: Integers  # (nodes,) the parent's number, -1 at a root
    noun_phrase: NDArray[np.bool_]  # (nodes,) whether the node is a noun phrase (the hat in HM-LSTM, Eq 2)
    root: Integers  # (S,) the root's number
    # Which nodes are the same, if that is known, as densevse/kernels/hlstm.py says; numbers may be those of more trees.
    alike: tuple[Integers, Integers] | None = None

    def find_same_nodes(self) -> tuple[Integers, Integers]:
        """Finds which nodes are the same, unless that is known."""
        return self.alike or find_same_nodes(self.word, self.parent, self.noun_phrase)

    def leaves(self) -> Integers:
        """(S, longest) the leaves of each sentence in the order of its words, padded with -1."""
        leaves = np.flatnonzero(self.word >= 0)
        sentence = np.searchsorted(self.root, leaves)  # a root comes last of its sentence's nodes
        counts = np.bincount(sentence, minlength=len(self.root))
        table = np.full((len(counts), counts.max()), -1)
        table[np.arange(table.shape[1]) < counts[:, None]] = leaves
        return table

    def heads(self) -> Integers:
        """(nodes,) the word number of each phrase's head; a leaf's is its own.

        The head of a phrase that ends in a word ("a brown dog") is that word. Otherwise it is the head of the first
        noun phrase among its children ("a dog on a sofa", "a dog and a cat"), or else the head of the last child.
        """
        nodes = np.arange(len(self.word))
        inner, phrases = nodes[self.parent >= 0], nodes[(self.parent >= 0) & self.noun_phrase]
        child = nodes.copy()
        child[self.parent[inner]] = inner  # the last child overwrites those before it
        begins = child.copy()
        begins[self.parent[phrases][::-1]] = phrases[::-1]  # the first noun phrase overwrites those after it
        towards = np.where(self.word[child] >= 0, child, begins)
        while (self.word[towards] < 0).any():
            towards = towards[towards]
        return self.word[towards]


@dataclass(frozen=True)
class Triplets:
    """The typed dependencies of each sentence as triplets (DeFrag, section 3.1), sentence after sentence."""

    relation: Integers  # (T,) the relation's number, below Shapes.sizes["relations"]
    governor: Integers  # (T,) the governing word's number in the vocabulary
    dependent: Integers  # (T,) the dependent word's number in the vocabulary
    lengths: Integers  # (S,) how many triplets each sentence has, perhaps none


@dataclass(frozen=True)
class Dependencies:
    """Dependency trees of a batch of sentences (SDT-RNN), all nodes numbered together, sentence after sentence."""

    word: Integers  # (nodes,) the word's number in the vocabulary
    head: Integers  # (nodes,) the number of the node that governs it, -1 at a root
    relation: Integers  # (nodes,) the number of the relation to its head, below Shapes.sizes["relations"]
    lengths: Integers  # (S,) how many nodes each sentence has


@dataclass(frozen=True)
class Tags:
    """The parser's tokens with their part-of-speech tags; 0 is padding and 1 is unknown in both."""

    words: Tensor  # (S, longest) word numbers in the vocabulary
    tags: Tensor  # (S, longest) tag numbers, below Shapes.sizes["tags"]
    lengths: Tensor  # (S,) how many tokens each sentence has
    host: Integers | None = None  # a copy of `lengths` that never leaves the CPU

    def lengths_on_host(self) -> Integers:
        """(S,) `lengths` as a NumPy array; the device does not wait if the batch holds a copy on the CPU."""
        return self.lengths.cpu().numpy() if self.host is None else self.host
