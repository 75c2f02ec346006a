"""The recursion of the SDT-RNN over dependency trees (Socher et al., TACL 2014), computed for a whole batch of them.

    h_i = f((x_i + sum_j l(j) W_ij h_j) / l(i))

All words at one depth are computed together, whichever sentence they belong to. `sdt_rnn` of
tests/kernels/definitions.py computes the same word by word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from densevse.kernels.arrays import Integers
from densevse.kernels.fragment_sums import ByRelation, LinearByRelation


@dataclass(frozen=True)
class Depth:
    """The words at one depth."""

    node: Tensor  # (n,) which nodes of the batch they are
    size: Tensor  # (n, 1) l: the words in the subtree of each, itself included
    weights: ByRelation  # which W_ij leads to the parent of each
    parent: Tensor  # (n,) the parent's place in the depth above; at roots, the sentence


def depths(head: Integers, weights: Integers, lengths: Integers, kinds: int) -> tuple[Depth, ...]:
    """Groups the words of a batch by depth, the deepest first and the roots last; the result's tensors are on the CPU.

    `head` (nodes,) is the number of the word that governs each word, -1 at a root; `weights` (nodes,) says which W_ij
    leads there, of so many `kinds`. Words stand sentence after sentence. `lengths` (S,) says how many words each
    sentence has. Raises `ValueError` if a word governs itself, directly or through others.
    """
    found = [np.flatnonzero(head < 0)]
    while len(deeper := np.flatnonzero(np.isin(head, found[-1]))):
        found.append(deeper)
    if sum(map(len, found)) < len(head):
        raise ValueError("a word of a dependency tree governs itself, directly or through others")
    place, size = np.empty_like(head), np.ones_like(head)
    for nodes in found:
        place[nodes] = np.arange(len(nodes))
    for nodes in reversed(found[1:]):
        np.add.at(size, head[nodes], size[nodes])
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    parent = np.where(head < 0, sentence, place[head])

    return tuple(
        Depth(
            node=torch.from_numpy(nodes),
            size=torch.from_numpy(size[nodes, None]),
            weights=ByRelation.from_relations(weights[nodes], kinds),
            parent=torch.from_numpy(parent[nodes]),
        )
        for nodes in reversed(found)
    )


def sums_of_roots(x: Tensor, children: LinearByRelation, words: Sequence[Depth], sentences: int) -> Tensor:
    """(sentences, H) sums of l h over each sentence's roots, of the (nodes, H) x; `children` holds every W_ij."""
    received = torch.zeros_like(x[words[0].node])
    for depth, above in pairwise(words):
        message = depth.size * children(_hidden_states(x, received, depth), depth.weights)
        received = torch.zeros_like(x[above.node]).index_add(0, depth.parent, message)
    roots = words[-1]
    total = x.new_zeros(sentences, x.shape[1])
    return total.index_add(0, roots.parent, roots.size * _hidden_states(x, received, roots))


def _hidden_states(x: Tensor, received: Tensor, depth: Depth) -> Tensor:
    """The h of the words at a depth, from the messages of their children."""
    return torch.tanh((x[depth.node] + received) / depth.size)
