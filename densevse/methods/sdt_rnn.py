"""SDT-RNN (Socher, Karpathy, Le, Manning, Ng, TACL 2014): a recursive network over dependency trees.

    h_i = f((W_v x_i + sum_j l(j) W_ij h_j) / l(i))

where j are the children of the word i, l is the number of words in a subtree, f is tanh, and W_ij belongs to the
relation of i and j (or, in the DT-RNN of the same paper, to j's position beside i). The root's h is the sentence.
Trees have no punctuation marks, as DeFrag's triplets. densevse/kernels/depths.py computes the recursion.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from densevse.kernels.arrays import Integers
from densevse.kernels.depths import Depth, depths, sums_of_roots
from densevse.kernels.fragment_sums import LinearByRelation
from densevse.methods.global_ranking import MeanRegion
from densevse.methods.interface import Embeddings, Sentences, Shapes
from densevse.methods.parameters.sdt_rnn import Parameters
from densevse.methods.parts import word_vectors
from densevse.methods.structures import Dependencies


class PlannedDependencies(NamedTuple):
    """A batch of dependency trees as it is computed."""

    word: Tensor  # (nodes,) the words
    lengths: Tensor  # (S,) how many words each sentence has
    depths: tuple[Depth, ...]


class SDTRNN(MeanRegion):
    """Semantic dependency tree recursive neural network."""

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        super().__init__(parameters, shapes, dimension=parameters.dimension, threshold=parameters.threshold)
        self.by_position = parameters.positions if parameters.weights == "position" else None
        kinds = shapes.sizes["relations"] if self.by_position is None else 2 * parameters.positions
        self.words = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        self.word = nn.Linear(self.words.embedding_dim, parameters.dimension, bias=False)  # W_v
        self.child = LinearByRelation(kinds, parameters.dimension, parameters.dimension, bias=False)  # W_ij

    def plan(self, sentences: Sentences) -> PlannedDependencies:
        """The words of a batch by their depth."""
        trees: Dependencies = sentences["dependencies"]
        weights = trees.relation if self.by_position is None else relative_positions(trees.head, self.by_position)
        words = depths(trees.head, weights, trees.lengths, len(self.child.weight))
        return PlannedDependencies(torch.from_numpy(trees.word), torch.from_numpy(trees.lengths), words)

    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, dimension) h of the roots: for several, the mean weighted by l; for a sentence of no words, zero."""
        planned: PlannedDependencies = self.device_plan(sentences)
        x = self.word(self.words(planned.word))
        sums = sums_of_roots(x, self.child, planned.depths, len(planned.lengths))
        return Embeddings(sums / planned.lengths.unsqueeze(1).clamp(min=1))


METHOD = SDTRNN


def relative_positions(head: Integers, positions: int) -> Integers:
    """Each word's position beside its head: l1, l2, ... are numbered 0, 1, ..., and r1, r2, ... follow.

    The nearest child on a side has the first position. Each side has `positions` of them, and all farther children
    share the last. Roots, which have no head, get 0.
    """
    node = np.arange(len(head))
    right = node > head
    rank = np.zeros_like(head)
    order = np.lexsort((np.abs(node - head), right, head))  # children of one head and side together, the nearest first
    group = np.stack((head, right))[:, order]
    begins = np.concatenate(([True], (group[:, 1:] != group[:, :-1]).any(axis=0)))[: len(head)]
    rank[order] = node - np.maximum.accumulate(np.where(begins, node, 0))
    return np.where(head < 0, 0, np.minimum(rank, positions - 1) + positions * right)
