"""SDT-RNN (Socher, Karpathy, Le, Manning, Ng, TACL 2014): a recursive network over dependency trees.

    h_i = f((W_v x_i + sum_j l(j) W_ij h_j) / l(i))

where j are the children of the word i, l is the number of words in a subtree, f is tanh, and W_ij belongs to the
relation of i and j (or, in the DT-RNN of the same paper, to j's position beside i). The root's h is the sentence.
Punctuation marks are no words of a tree, as in DeFrag's triplets.
All words at one depth, whichever sentence they are of, are computed together.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from densevse.kernels.relations import LinearByRelation
from densevse.methods.global_ranking import MeanRegion
from densevse.methods.interface import Encoding, Sentences, Shapes
from densevse.methods.parameters.sdt_rnn import Parameters
from densevse.methods.structures import Dependencies, Integers
from densevse.methods.words import word_vectors


@dataclass(frozen=True)
class Level:
    """The words at one depth."""

    node: Tensor  # (n,) which nodes of the batch they are
    size: Tensor  # (n, 1) l: the words in the subtree of each, itself included
    weights: Tensor  # (n,) which W_ij leads to the parent
    parent: Tensor  # (n,) the parent's place in the level above; at roots, the sentence


class SDTRNN(MeanRegion):
    """Semantic dependency tree recursive neural network."""

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        super().__init__(parameters, shapes, dimension=parameters.dimension, threshold=parameters.threshold)
        self.by_position = parameters.positions if parameters.weights == "position" else None
        kinds = shapes.sizes["relations"] if self.by_position is None else 2 * parameters.positions
        self.words = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        self.word = nn.Linear(self.words.embedding_dim, parameters.dimension, bias=False)  # W_v
        self.child = LinearByRelation(kinds, parameters.dimension, parameters.dimension, bias=False)  # W_ij

    def encode_sentences(self, sentences: Sentences) -> Encoding:
        """(S, dimension) h of the roots; of several roots, the mean weighted by l."""
        trees: Dependencies = sentences["dependencies"]
        device = self.word.weight.device
        x = self.word(self.words(torch.from_numpy(trees.word).to(device)))
        levels = plan(trees, self.by_position, device)
        received = torch.zeros_like(x[levels[0].node])
        for level, above in pairwise(levels):
            message = level.size * self.child(_hidden(x, received, level), level.weights)
            received = torch.zeros_like(x[above.node]).index_add(0, level.parent, message)
        roots = levels[-1]
        total = x.new_zeros(len(trees.lengths), x.shape[1])
        words = torch.from_numpy(trees.lengths).to(device).unsqueeze(1)
        return (total.index_add(0, roots.parent, roots.size * _hidden(x, received, roots)) / words.clamp(min=1),)


METHOD = SDTRNN


def _hidden(x: Tensor, received: Tensor, level: Level) -> Tensor:
    """The h of the words of a level, from what their children sent."""
    return torch.tanh((x[level.node] + received) / level.size)


def plan(trees: Dependencies, positions: int | None, device: torch.device) -> list[Level]:
    """The words of a batch by depth, the deepest first and the roots last.

    Raises `ValueError` if a word governs itself, directly or through others.
    """
    head, depths = trees.head, [np.flatnonzero(trees.head < 0)]
    while len(deeper := np.flatnonzero(np.isin(head, depths[-1]))):
        depths.append(deeper)
    if sum(map(len, depths)) < len(head):
        raise ValueError("a word of a dependency tree governs itself, directly or through others")
    place, size = np.empty_like(head), np.ones_like(head)
    for nodes in depths:
        place[nodes] = np.arange(len(nodes))
    for nodes in reversed(depths[1:]):
        np.add.at(size, head[nodes], size[nodes])
    sentence = np.repeat(np.arange(len(trees.lengths)), trees.lengths)
    parent = np.where(head < 0, sentence, place[head])
    weights = trees.relation if positions is None else beside(head, positions)

    def on_device(values: Integers) -> Tensor:
        return torch.from_numpy(values).to(device)

    return [
        Level(*map(on_device, (nodes, size[nodes, None], weights[nodes], parent[nodes]))) for nodes in reversed(depths)
    ]


def beside(head: Integers, positions: int) -> Integers:
    """Each word's position beside the word that governs it: l1, l2, ... as 0, 1, ... and r1, r2, ... after those.

    The nearest child on a side is the first; there are `positions` on each, and the last is for all farther ones.
    Roots, which have none, are given 0.
    """
    node = np.arange(len(head))
    right = node > head
    rank = np.zeros_like(head)
    order = np.lexsort((np.abs(node - head), right, head))  # children of one head and side together, the nearest first
    group = np.stack((head, right))[:, order]
    begins = np.concatenate(([True], (group[:, 1:] != group[:, :-1]).any(axis=0)))[: len(head)]
    rank[order] = node - np.maximum.accumulate(np.where(begins, node, 0))
    return np.where(head < 0, 0, np.minimum(rank, positions - 1) + positions * right)
