"""The H-LSTM sentence encoder (Niu et al., ICCV 2017, section 3.2.1, Eq 2-8), computed for a whole batch of trees.

A word's vector x_j enters at leaves only and a leaf has no children, so at inner nodes every W x_j is zero. Two things
follow. W^(f) meets no forget gate and is no parameter. And what a child gives to its parent depends on the child and
its type alone: its share of the parent's gates, U h_k, and its gated memory, f_k c_k. That pair is called a message
here. It is computed once for all parents that have the child, and a subtree that occurs many times in the batch ("a
dog") is one node. A parent then only adds its children's messages.

`h_lstm` of tests/kernels/definitions.py computes the same with the equations as they are printed, node by node.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from densevse.kernels import hlstm_steps
from densevse.kernels.arrays import Booleans, Integers
from densevse.runtime.on_gpu import is_plain

BAR, HAT = 0, 1  # the two types of children: the others, and noun phrases


@dataclass(frozen=True)
class Messages:
    """Messages from the nodes of one height to their parents, as children of one type; both are contiguous."""

    type: int
    rows: slice  # the place of these among all messages
    nodes: slice  # the place of the senders among all nodes
    parents: slice  # the place of their receivers in `Subtrees.parents`


@dataclass(frozen=True)
class Level:
    """The nodes of one height; leaves have height 0."""

    nodes: slice
    children: slice  # the place of the messages that they receive in `Subtrees.children`
    sent: tuple[Messages, ...]


@dataclass(frozen=True)
class Subtrees:
    """A batch of trees as distinct nodes, numbered so that each matrix product reads contiguous rows."""

    node: Tensor  # (nodes of the trees,) the number of each node among the distinct nodes
    word: Tensor  # (leaves,) the words of the leaves, which come first
    senders: tuple[Tensor, ...]  # for each type, the sender of each of its messages
    children: Tensor  # the messages that nodes receive, node by node
    children_from: Tensor  # (distinct nodes,) where each node's begin among the children of its level
    parents: Tensor  # the nodes that receive messages, message by message
    parents_from: Tensor  # (messages,) where each message's begin among the parents of its `Messages`
    levels: tuple[Level, ...]


class Alike(NamedTuple):
    """Which nodes of some trees are the same: leaves with one word, or nodes with the same children of the same types.

    The order of children makes no difference, as Eq 2-8 sum over them.
    """

    number: Integers  # (nodes,) one number for all nodes that are the same
    height: Integers  # (nodes,) leaves have height 0


def subtrees(
    word: Integers, parent: Integers, noun_phrase: Booleans | None, alike: tuple[Integers, Integers] | None = None
) -> Subtrees:
    """Finds the distinct subtrees of a batch of trees and the order in which to compute them, on the CPU.

    All arguments are (nodes,), children before parents. `word` is a leaf's word, -1 at inner nodes; `parent` is the
    parent's number, -1 at a root; `noun_phrase` is the type of the child, HAT or BAR. Without it all children are of
    the type BAR. `alike` is `find_same_nodes` of these or of more trees, if it is known.
    """
    types = 1 if noun_phrase is None else 2
    number, heights = alike or find_same_nodes(word, parent, noun_phrase)
    node, first = _renumber(number)
    height = heights[first]
    # The children of a distinct node are those of its first occurrence.
    is_first = np.zeros(len(word), bool)
    is_first[first] = True
    edges = np.flatnonzero(parent >= 0)
    edges = edges[is_first[parent[edges]]]
    receiver, child, kind = node[parent[edges]], node[edges], _kinds(word, noun_phrase)[edges]
    by_receiver = np.lexsort((kind, child, receiver))
    receiver, child, kind = receiver[by_receiver], child[by_receiver], kind[by_receiver]
    sends = np.zeros((types, len(first)), bool)
    sends[kind, child] = True

    # Nodes are sorted by height, and then: no message, bar only, both, hat only. Senders of a type are contiguous.
    use = np.array([0, 1, 3, 2])[np.array([1, 2])[:types] @ sends]
    order = np.lexsort((use, height))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    node, height, sends, receiver, child = place[node], height[order], sends[:, order], place[receiver], place[child]

    message = np.cumsum(sends).reshape(sends.shape) - 1  # all bar messages, then all hat messages, each by height
    words = np.empty(len(order), np.int64)
    words[node] = word
    sent = message[kind, child]  # by each edge
    children, parents = _Bags(sent, receiver, len(order)), _Bags(receiver, sent, int(sends.sum()))
    return Subtrees(
        node=torch.from_numpy(node),
        word=torch.from_numpy(words[height == 0]),
        senders=tuple(torch.from_numpy(np.flatnonzero(row)) for row in sends),
        levels=tuple(_levels(height, sends, message, children, parents)),
        children=torch.from_numpy(children.items),
        children_from=torch.from_numpy(children.begins),
        parents=torch.from_numpy(parents.items),
        parents_from=torch.from_numpy(parents.begins),
    )


def find_same_nodes(word: Integers, parent: Integers, noun_phrase: Booleans | None) -> Alike:
    """Finds which nodes are the same, and their heights; the arguments are those of `subtrees`."""
    edges = np.flatnonzero(parent >= 0)
    height = _heights(parent, edges)
    kind, number = _kinds(word, noun_phrase), np.empty(len(word), np.int64)
    distinct, number[height == 0] = np.unique(word[height == 0], return_inverse=True)
    count = len(distinct)
    edges = edges[np.argsort(height[parent[edges]], kind="stable")]
    bounds = np.searchsorted(height[parent[edges]], np.arange(1, height.max(initial=0) + 2))
    for begin, end in pairwise(bounds.tolist()):
        child = edges[begin:end]
        receivers, owner = np.unique(parent[child], return_inverse=True)
        found = _number_lists(owner, 2 * number[child] + kind[child])
        number[receivers] = count + found
        count += 1 + int(found.max())
    return Alike(number, height)


def _kinds(word: Integers, noun_phrase: Booleans | None) -> Integers:
    return np.zeros(len(word), np.int64) if noun_phrase is None else noun_phrase.astype(np.int64)


def _heights(parent: Integers, edges: Integers) -> Integers:
    height = np.zeros(len(parent), np.int64)
    while True:
        before = height.copy()
        np.maximum.at(height, parent[edges], before[edges] + 1)
        if np.array_equal(before, height):
            return height


def _number_lists(owner: Integers, item: Integers) -> Integers:
    """(lists,) a number for each list of items, the same for lists with the same items in any order.

    `owner` is each item's list, a number from 0 on.
    """
    order = np.lexsort((item, owner))
    owner, item = owner[order], item[order]
    lengths = np.bincount(owner)
    starts = np.cumsum(lengths) - lengths
    # The first items of a list have a number, which with the next item gives that of one item more.
    found = np.zeros_like(lengths)
    for place in range(int(lengths.max())):
        longer = np.flatnonzero(lengths > place)
        pair = found[longer] * (1 + int(item.max())) + item[starts[longer] + place]
        found[longer] = np.unique(pair, return_inverse=True)[1]
    return np.unique(lengths * (1 + found.max()) + found, return_inverse=True)[1]


def _renumber(number: Integers) -> tuple[Integers, Integers]:
    """Renumbers from 0 on in the order of first occurrence; also returns where each new number first occurs."""
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], first[order]


def _levels(
    height: Integers, sends: Booleans, message: Integers, children: "_Bags", parents: "_Bags"
) -> Iterator[Level]:
    """The levels, lowest first."""
    for here in _pieces(height):
        sent = []
        for kind, row in enumerate(sends):
            senders = here.start + np.flatnonzero(row[here])
            if len(senders):
                nodes = slice(int(senders[0]), int(senders[-1]) + 1)
                rows = slice(int(message[kind, nodes.start]), int(message[kind, nodes.stop - 1]) + 1)
                sent.append(Messages(kind, rows, nodes, parents.part(rows)))
        yield Level(here, children.part(here), tuple(sent))


def _pieces(height: Integers) -> Iterator[slice]:
    """The nodes of each height."""
    bounds = np.searchsorted(height, np.arange(height[-1] + 2)).tolist()
    return (slice(begin, end) for begin, end in pairwise(bounds))


class _Bags:
    """The `items` that belong to each of `bags` numbers, in the format of `embedding_bag`."""

    def __init__(self, items: Integers, bag: Integers, bags: int) -> None:
        first = np.concatenate(([0], np.cumsum(np.bincount(bag, minlength=bags))))
        self.items = items[np.argsort(bag, kind="stable")]
        self.begins = first[:-1].copy()  # in the part that a bag is in; until `part` is called, in all
        self._first = first

    def part(self, some: slice) -> slice:
        """The place of the items of some bags, whose `begins` are counted from there on."""
        begin, end = int(self._first[some.start]), int(self._first[some.stop])
        self.begins[some] -= begin
        return slice(begin, end)


class _Recursion(torch.autograd.Function):
    """Eq 2-8 over distinct subtrees. The gates stand side by side in the order i, o, u and, in messages, f."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, u: Tensor, b: Tensor, trees: Subtrees) -> Tensor:
        size, steps = u.shape[2], _steps(x.device)
        nodes, messages = trees.levels[-1].nodes.stop, sum(map(len, trees.senders))
        h, c, tanh_c = x.new_empty(3, nodes, size).unbind()
        sent = x.new_empty(messages, 4 * size)
        gates: list[Tensor] = []
        forget: list[Tensor] = []
        for level in trees.levels:
            here = level.nodes
            of_leaves = x @ w.T if here.start == 0 else None  # Eq 5-7 at a leaf: only W x_j + b
            received = trees.children[level.children], trees.children_from[here], sent
            gates.append(steps.open_gates(of_leaves, *received, b, c[here], tanh_c[here], h[here]))
            for message in level.sent:
                out, sender = sent[message.rows], message.nodes
                torch.mm(h[sender], u[message.type].T, out=out)  # the terms U h of Eq 3-7
                forget.append(steps.send(out, b[3 * size :], c[sender]))
        ctx.trees, ctx.gates, ctx.forget = trees, gates, forget
        ctx.save_for_backward(x, w, u, h, c, tanh_c)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_h: Tensor) -> tuple[Tensor | None, ...]:
        x, w, u, h, c, tanh_c = ctx.saved_tensors
        size, trees, steps = u.shape[2], ctx.trees, _steps(x.device)
        forget = list(ctx.forget)
        d_h, d_c = grad_h.clone(), torch.zeros_like(c)
        d_node = h.new_empty(len(h), 4 * size)  # gradients of a node's i, o, u before their sigmoids, and of its c
        d_sent = h.new_empty(sum(map(len, trees.senders)), 4 * size)  # gradients of U h for i, o, u, f
        for level, gates in zip(reversed(trees.levels), reversed(ctx.gates), strict=True):
            here = level.nodes
            for message in reversed(level.sent):
                d, sender = d_sent[message.rows], message.nodes
                receivers = trees.parents[message.parents], trees.parents_from[message.rows]
                steps.receive(*receivers, d_node, forget.pop(), c[sender], d_c[sender], d)
                d_h[sender].addmm_(d, u[message.type])
            steps.close_gates(gates, d_h[here], d_c[here], tanh_c[here], d_node[here])
        d_iou = d_node[:, : 3 * size]
        d_leaves = d_iou[: len(x)]
        d_x = d_leaves @ w if ctx.needs_input_grad[0] else None
        by_type = torch.split(d_sent, [len(senders) for senders in trees.senders])
        d_matrices = torch.empty_like(u)
        for matrix, d, senders in zip(d_matrices, by_type, trees.senders, strict=True):
            torch.mm(d.T, h[senders], out=matrix)
        d_b = torch.cat((d_iou.sum(0), d_sent[:, 3 * size :].sum(0)))
        return d_x, d_leaves.T @ x, d_matrices, d_b, None


def _steps(device: torch.device) -> ModuleType:
    """The steps of a level, which a GPU computes by kernels in Triton; only there is Triton imported."""
    if device.type == "cpu" or is_plain("hlstm"):
        return hlstm_steps
    from densevse.kernels import fused_hlstm

    return fused_hlstm


class HLSTM(nn.Module):
    """The H-LSTM: computes a hidden state for every node of every tree, which represents the node's phrase.

    With `typed` false it is the Tree-LSTM of Tai et al. (2015), where noun phrases are children like all others.
    `spread` is the standard deviation of the values of word vectors; W is initialised so that the values of W x_j have
    the standard deviation 1. The paper does not say how W is initialised. With a smaller W, leaves hardly differ at
    first and the model generalises worse. Where all word vectors are equal, W is initialised as for a spread of 1.
    """

    def __init__(self, *, inputs: int, hidden: int, typed: bool = True, spread: float = 1.0) -> None:
        super().__init__()
        self.typed = typed
        self.w = nn.Parameter(torch.empty(3 * hidden, inputs))  # W^(i), W^(o), W^(u)
        self.u = nn.Parameter(torch.empty(1 + typed, 4 * hidden, hidden))  # bar, hat: U^(i), U^(o), U^(u), U^(f)
        self.b = nn.Parameter(torch.zeros(4 * hidden))  # b^(i), b^(o), b^(u), b^(f)
        nn.init.normal_(self.w, std=inputs**-0.5 / (spread if spread > 0 else 1.0))
        nn.init.uniform_(self.u, -(hidden**-0.5), hidden**-0.5)
        nn.init.ones_(self.b[3 * hidden :].detach())  # forget gates start open, as usual

    def forward(self, vectors: Callable[[Tensor], Tensor], trees: Subtrees) -> Tensor:
        """(distinct nodes, hidden) h_j of distinct nodes; `vectors` holds the x_j of words, (n, inputs)."""
        x = vectors(trees.word)
        with torch.autocast(x.device.type, enabled=False):  # short sums of small products: keep float32
            return _Recursion.apply(x.float() if x.dtype == torch.bfloat16 else x, self.w, self.u, self.b, trees)  # type: ignore[no-any-return]
