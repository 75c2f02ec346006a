"""LSTM and GRU over a batch of sentences, which computes beginnings that sentences share only once.

The distinct beginnings (prefixes) of a batch form a tree: "a dog" is one node whether one sentence begins so or
twenty. Level t of the tree holds the prefixes of t + 1 words; a step of the recurrence is one matrix product over a
level, so nothing is padded and nothing needs sorting. The input product is computed once for each distinct word. The
backward pass is written by hand, with one product for all steps' weight gradients.

A decoder starts each sentence from a different state and shares nothing: its sentences are `chains`.

A GPU shares nothing either. There one call of PyTorch's LSTM or GRU, which is cuDNN's, computes all steps of `chains`:
their levels are a packed sequence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from densevse.kernels.arrays import Integers
from densevse.runtime.on_gpu import is_plain


def sigmoid_(x: Tensor) -> Tensor:
    """The logistic function, in place. On CPUs with AVX-512, PyTorch's own takes 18 times as long as its exp alone."""
    return x.neg_().exp_().add_(1).reciprocal_() if x.is_cpu else x.sigmoid_()


def sigmoid_gradient(gradient: Tensor, output: Tensor, out: Tensor | None = None) -> Tensor:
    """The gradient of a sigmoid's input, from the output's gradient and the output."""
    given = {} if out is None else {"grad_input": out}
    return torch.ops.aten.sigmoid_backward(gradient, output, **given)  # type: ignore[no-any-return]


def tanh_gradient(gradient: Tensor, output: Tensor, out: Tensor | None = None) -> Tensor:
    """The gradient of a tanh's input, from the output's gradient and the output."""
    given = {} if out is None else {"grad_input": out}
    return torch.ops.aten.tanh_backward(gradient, output, **given)  # type: ignore[no-any-return]


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Hochreiter and Schmidhuber's cell with forget gate: (P, 4H) gates and a (P, H) cell to the next state and cell.

    `gates` are the inputs of the gates in the order input, forget, output, candidate.
    """
    hidden, after = _Cell.apply(gates, cell)
    return hidden, after


class _Cell(torch.autograd.Function):
    """The cell as an autograd function that saves the gates, not their inputs."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        size = cell.shape[1]
        opened = sigmoid_(gates[:, : 3 * size].clone(memory_format=torch.contiguous_format))
        candidate = gates[:, 3 * size :].tanh()
        i, f, o = opened.split(size, dim=1)
        after = torch.addcmul(i * candidate, f, cell)
        squashed = after.tanh()
        ctx.save_for_backward(opened, candidate, cell, squashed)
        return o * squashed, after

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_hidden: Tensor, of_after: Tensor) -> tuple[Tensor, Tensor]:
        opened, candidate, cell, squashed = ctx.saved_tensors
        i, f, o = opened.split(cell.shape[1], dim=1)
        of_gates = cell.new_empty(len(cell), 4 * cell.shape[1])
        of_i, of_f, of_o, of_candidate = of_gates.split(cell.shape[1], dim=1)
        here = tanh_gradient(of_hidden * o, squashed).add_(of_after)
        sigmoid_gradient(of_hidden * squashed, o, out=of_o)
        sigmoid_gradient(here * candidate, i, out=of_i)
        sigmoid_gradient(here * cell, f, out=of_f)
        tanh_gradient(here * i, candidate, out=of_candidate)
        return of_gates, here.mul_(f)


@dataclass(frozen=True)
class Prefixes:
    """The distinct prefixes of a batch of sentences, shorter ones first."""

    distinct: Tensor  # (U,) the batch's distinct words
    word: Tensor  # (P,) each prefix's last word, as a position in `distinct`
    parent: Tensor  # (P,) the prefix without its last word, as a row of the level before; 0 on the first level
    sizes: list[int]  # how many prefixes each level has
    ends: Tensor  # (S, longest) the prefix that ends with each word; at padding, the whole sentence

    @property
    def sentence(self) -> Tensor:
        """(S,) the prefix that is the whole sentence."""
        return self.ends[:, -1]


def prefixes(table: Integers, device: torch.device) -> Prefixes:
    """Finds the distinct prefixes of sentences of at least one word each; the result's tensors are on the CPU.

    `table` (S, longest) has the sentences' words, padded with 0. Where a library computes the states on `device`,
    prefixes are `chains`.
    """
    lengths = (table != 0).sum(axis=1)
    if uses_library(device):
        return chains(table, lengths)
    distinct, position = np.unique(table, return_inverse=True)
    position = position.reshape(table.shape)[:, : int(lengths.max())]
    # In lexicographic order, sentences with the same beginning are neighbours: a prefix is new where the sentence
    # before does not share it.
    order = np.lexsort(position.T[::-1])
    position, length = position[order], lengths[order]
    new = np.arange(position.shape[1]) < length[:, None]
    new[1:] &= ~np.logical_and.accumulate(position[1:] == position[:-1], axis=1)
    number = new.cumsum(axis=0) - 1  # the number of each prefix in its level
    level, row = np.nonzero(new.T)
    parent = np.where(level > 0, number[row, level - 1], 0)
    sizes = new.sum(axis=0)
    ends = np.empty_like(number)
    ends[order] = _starts(sizes) + number
    return _prefixes(distinct, position[row, level], parent, sizes, _fill_padding(ends, lengths, table.shape[1]))


def chains(table: Integers, length: Integers) -> Prefixes:
    """Prefixes of sentences of which none is shared: each sentence starts from a state of its own, or on a GPU.

    `table` (S, longest) has their words and `length` (S,) how many each has, at least 1; any word may be 0 here. On
    the first level `parent` is the sentence's row. The result's tensors are on the CPU.
    """
    distinct, position = np.unique(table, return_inverse=True)
    position = position.reshape(table.shape)
    order = np.argsort(-length, kind="stable")  # so that the sentences still alive at a step come first
    level, row = np.nonzero(np.arange(int(length.max()))[:, None] < length[order])
    parent = np.where(level > 0, row, order[row])
    sizes = np.bincount(level)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ends = _fill_padding(_starts(sizes) + place[:, None], length, table.shape[1])
    return _prefixes(distinct, position[order[row], level], parent, sizes, ends)


def _starts(sizes: Integers) -> Integers:
    """The first prefix of each level."""
    return np.cumsum(sizes) - sizes


def _fill_padding(ends: Integers, lengths: Integers, width: int) -> Integers:
    """(S, width) the prefixes that end with each word, (S, longest), with the last one of each sentence at padding."""
    return np.take_along_axis(ends, np.minimum(np.arange(width), lengths[:, None] - 1), axis=1)


def _prefixes(distinct: Integers, word: Integers, parent: Integers, sizes: Integers, ends: Integers) -> Prefixes:
    words, word_of, parent_of, ends_of = map(torch.from_numpy, (distinct, word, parent, ends))
    return Prefixes(words, word_of, parent_of, sizes.tolist(), ends_of)


class Recurrent(nn.Module):
    """An LSTM or GRU whose last hidden state stands for the sentence.

    `weight_input` is (gates * hidden, inputs) and `weight_hidden` (gates * hidden, hidden). Gates are stacked in the
    order input, forget, output, candidate (LSTM) and reset, update, candidate (GRU).
    """

    def __init__(self, kind: str, inputs: int, hidden: int) -> None:
        super().__init__()
        gates = {"lstm": 4, "gru": 3}[kind]
        self.kind = kind
        self.weight_input = nn.Parameter(torch.empty(gates * hidden, inputs))
        self.weight_hidden = nn.Parameter(torch.empty(gates * hidden, hidden))
        self.bias_input = nn.Parameter(torch.zeros(gates * hidden))
        for gate in self.weight_input.data.chunk(gates):
            nn.init.xavier_uniform_(gate)
        for gate in self.weight_hidden.data.chunk(gates):
            nn.init.orthogonal_(gate)
        if kind == "lstm":
            nn.init.ones_(self.bias_input.data[hidden : 2 * hidden])  # forget gates start open (Jozefowicz et al. 2015)
        else:
            self.bias_hidden = nn.Parameter(torch.zeros(hidden))

    def forward(self, vectors: Tensor, tree: Prefixes) -> Tensor:
        """(S, hidden) last hidden states of sentences whose distinct words have the `vectors` (U, inputs)."""
        return functional.embedding(tree.sentence, self.states(vectors, tree))

    def states(self, vectors: Tensor, tree: Prefixes, initial: Tensor | None = None) -> Tensor:
        """(P, hidden) hidden states of all prefixes.

        `initial` (S, hidden) holds the first hidden states of the sentences of `chains`, by default zero; memories
        always start from zero. Raises `ValueError` if a GRU is given `initial`.
        """
        if initial is not None and self.kind == "gru":
            raise ValueError("only an LSTM can begin from a state")
        if uses_library(vectors.device):
            return states_by_library([self], vectors, tree, initial)
        inputs = functional.linear(vectors, self.weight_input, self.bias_input)
        of_prefixes = functional.embedding(tree.word, inputs.to(self.weight_hidden.dtype))
        with torch.autocast(inputs.device.type, enabled=False):  # the recurrence keeps its precision
            if self.kind == "lstm":
                begun = None if initial is None else initial.to(self.weight_hidden.dtype)
                return _LSTM.apply(of_prefixes, self.weight_hidden, begun, tree)  # type: ignore[no-any-return]
            return _GRU.apply(of_prefixes, self.weight_hidden, self.bias_hidden, tree)  # type: ignore[no-any-return]

    def step(self, vectors: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """One step of an LSTM that generates: (S, inputs) vectors, (S, hidden) states and memories to the next."""
        gates = functional.linear(vectors, self.weight_input, self.bias_input) + hidden @ self.weight_hidden.t()
        return lstm_cell(gates, memory)


# --- by a library ------------------------------------------------------------------------------------------------


def uses_library(device: torch.device) -> bool:
    """True if one call of PyTorch's LSTM or GRU computes all steps: on a GPU, unless `is_plain`."""
    return device.type != "cpu" and not is_plain("recurrent")


def states_by_library(
    directions: Sequence[Recurrent], vectors: Tensor, tree: Prefixes, initial: Tensor | None = None
) -> Tensor:
    """(P, directions * hidden) hidden states of all prefixes of `chains`, in one direction or in both, side by side.

    `vectors` (U, inputs) are those of the distinct words, and `initial` (S, hidden) the first hidden states.
    """
    first = directions[0]
    kind, size, sentences = first.kind, first.weight_hidden.shape[1], tree.sizes[0]
    words = functional.embedding(tree.word, vectors.to(first.weight_hidden.dtype))
    with torch.autocast(words.device.type, enabled=False):  # the recurrence keeps its precision
        begun = words.new_zeros(len(directions), sentences, size)
        if initial is not None:
            begun = initial.to(words.dtype).index_select(0, tree.parent[:sentences]).unsqueeze(0)
        states: Any = (begun, torch.zeros_like(begun)) if kind == "lstm" else begun
        # Without dropout; the gradient needs the mode of training.
        options = (True, 1, 0.0, torch.is_grad_enabled(), len(directions) == 2)
        compute: Any = torch.lstm if kind == "lstm" else torch.gru
        weights = _Flat.apply(kind, len(directions), *(weight for layer in directions for weight in layer.parameters()))
        hidden: Tensor = compute(words, torch.tensor(tree.sizes), states, weights, *options)[0]
        return hidden


class _Flat(torch.autograd.Function):
    """Weights as PyTorch's layers have them, four for each direction: an LSTM's gates in another order, a second bias.

    They are views of one tensor, first the matrices of all directions, as cuDNN wants them: else each call copies them.
    """

    @staticmethod
    def forward(ctx: Any, kind: str, directions: int, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.kind, ctx.directions = kind, directions
        layers = [_parts(kind, layer) for layer in _split_directions(weights, directions)]
        order = [(direction, number) for pair in ((0, 1), (2, 3)) for direction in range(directions) for number in pair]
        parts = [layers[direction][number] for direction, number in order]
        flat = torch.cat([part.flatten() for several in parts for part in several])
        views = flat.split([sum(part.numel() for part in several) for several in parts])
        found = dict(zip(order, views, strict=True))
        shapes = [(-1, *layers[0][number][0].shape[1:]) for number in range(4)]
        return tuple(found[place].view(shapes[place[1]]) for place in sorted(found))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        layers = _split_directions(gradients, ctx.directions)
        return None, None, *(gradient for layer in layers for gradient in _layer_gradients(ctx.kind, layer))


def _split_directions(weights: Sequence[Tensor], directions: int) -> list[Sequence[Tensor]]:
    count = len(weights) // directions
    return [weights[first : first + count] for first in range(0, len(weights), count)]


def _parts(kind: str, layer: Sequence[Tensor]) -> list[list[Tensor]]:
    """The parts that make up PyTorch's four weights of a layer."""
    if kind == "gru":  # whose second bias is that of the candidate alone
        *same, bias = layer
        return [*([weight] for weight in same), [bias.new_zeros(2 * len(bias)), bias]]
    return [*(_swap_gates(weight) for weight in layer), [torch.zeros_like(layer[2])]]


def _layer_gradients(kind: str, gradients: Sequence[Tensor]) -> list[Tensor]:
    """The gradients of a layer's weights, from those of PyTorch's four."""
    *same, second = gradients
    if kind == "gru":
        return [*same, second[2 * len(second) // 3 :]]
    return [torch.cat(_swap_gates(gradient)) for gradient in same]


def _swap_gates(weight: Tensor) -> list[Tensor]:
    """The rows of an LSTM's gates: ours are input, forget, output, candidate; PyTorch has the last two swapped."""
    size = len(weight) // 4
    first_two, third, fourth = weight.split((2 * size, size, size))
    return [first_two, fourth, third]


# --- by ours -----------------------------------------------------------------------------------------------------


def _levels(tree: Prefixes, *parts: Tensor) -> list[tuple[Tensor, ...]]:
    """The rows of each level, for tensors with a row for each prefix."""
    return list(zip(*(part.split(tree.sizes) for part in parts), strict=True))


def _spans(sizes: list[int]) -> list[tuple[slice, slice]]:
    """For each level, the slice of its rows and the slice of the level before."""
    ends = np.cumsum([0, *sizes]).tolist()
    rows = [slice(start, end) for start, end in pairwise(ends)]
    return list(zip(rows, [slice(0, 0), *rows], strict=False))


class _LSTM(torch.autograd.Function):
    """Hochreiter and Schmidhuber's cell with forget gate, over prefixes: (P, 4H) and (S, H) starts to (P, H)."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, initial: Tensor | None, tree: Prefixes) -> Tensor:
        count, size = len(inputs), weight.shape[1]
        gates = inputs.clone()
        cell, squashed, hidden = (inputs.new_empty(count, size) for _ in range(3))
        hidden_before, cell_before = inputs.new_zeros(count, size), inputs.new_zeros(count, size)
        by_gate = (gates, gates[:, : 3 * size], *gates.split(size, dim=1))
        levels = _levels(tree, *by_gate, cell, squashed, hidden, hidden_before, cell_before, tree.parent)
        h: Tensor | None = initial  # hidden states of the level before, as c is of the memories
        c: Tensor | None = None
        for every, sigmoids, i, f, o, candidate, new_c, tanh_c, new_h, h_before, c_before, parent in levels:
            if h is not None:
                torch.index_select(h, 0, parent, out=h_before)
                every.addmm_(h_before, weight.t())
            if c is not None:
                torch.index_select(c, 0, parent, out=c_before)
            sigmoid_(sigmoids)
            candidate.tanh_()
            torch.mul(i, candidate, out=new_c).addcmul_(f, c_before)
            torch.tanh(new_c, out=tanh_c)
            torch.mul(o, tanh_c, out=new_h)
            h, c = new_h, new_c
        ctx.save_for_backward(weight, gates, squashed, hidden_before, cell_before)
        ctx.tree, ctx.begun = tree, initial is not None and len(initial)
        return hidden

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor | None, None]:
        weight, gates, squashed, hidden_before, cell_before = ctx.saved_tensors
        tree, size = ctx.tree, weight.shape[1]
        i, f, o, candidate = gates.split(size, dim=1)
        # First, for all prefixes at once, the derivatives: of the memory by i, f and the candidate, and of the hidden
        # state by o and by the memory. Then, level by level, these times the gradients that arrive.
        of_gates = torch.empty_like(gates)
        of_i, of_f, of_o, of_candidate = of_gates.split(size, dim=1)
        sigmoid_gradient(candidate, i, out=of_i)
        sigmoid_gradient(cell_before, f, out=of_f)
        sigmoid_gradient(squashed, o, out=of_o)
        tanh_gradient(i, candidate, out=of_candidate)
        to_memory = tanh_gradient(o, squashed)
        first_two = of_gates.unflatten(1, (4, size))[:, :2]
        levels = _levels(tree, of_gates, first_two, of_o, of_candidate, to_memory, f, tree.parent)
        of_hidden, of_memory = (part.split(tree.sizes) for part in (gradient.clone(), torch.zeros_like(gradient)))
        for level in reversed(range(len(levels))):
            every, two, third, fourth, to_c, forget, parent = levels[level]
            d_h, d_c = of_hidden[level], of_memory[level]
            d_c.addcmul_(d_h, to_c)
            two.mul_(d_c.unsqueeze(1))
            third.mul_(d_h)
            fourth.mul_(d_c)
            if level > 0:
                of_memory[level - 1].index_add_(0, parent, d_c * forget)
                of_hidden[level - 1].index_add_(0, parent, every @ weight)
        of_initial = None
        if ctx.begun:
            first = slice(0, tree.sizes[0])
            of_initial = gradient.new_zeros(ctx.begun, size).index_add_(0, tree.parent[first], of_gates[first] @ weight)
        return of_gates, of_gates.t() @ hidden_before, of_initial, None


class _GRU(torch.autograd.Function):
    """The gated recurrent unit (Cho et al. 2014, reset after the product), over prefixes; (P, 3H) to (P, H)."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor, tree: Prefixes) -> Tensor:
        count, size = len(inputs), weight.shape[1]
        gates, hidden = inputs.clone(), inputs.new_empty(count, size)
        hidden_before, product = inputs.new_zeros(count, size), inputs.new_empty(count, size)
        for now, before in _spans(tree.sizes):
            reset, update, candidate = gates[now].split(size, dim=1)
            product[now] = bias
            if before.stop:
                torch.index_select(hidden[before], 0, tree.parent[now], out=hidden_before[now])
                products = hidden_before[now] @ weight.t()
                gates[now][:, : 2 * size] += products[:, : 2 * size]
                product[now] += products[:, 2 * size :]
            sigmoid_(gates[now][:, : 2 * size])
            candidate.addcmul_(reset, product[now]).tanh_()
            torch.lerp(candidate, hidden_before[now], update, out=hidden[now])
        ctx.save_for_backward(weight, gates, product, hidden_before)
        ctx.tree = tree
        return hidden

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        weight, gates, product, hidden_before = ctx.saved_tensors
        tree, size = ctx.tree, weight.shape[1]
        of_hidden, of_inputs, of_products = gradient.clone(), torch.empty_like(gates), torch.empty_like(gates)
        for now, before in reversed(_spans(tree.sizes)):
            reset, update, candidate = gates[now].split(size, dim=1)
            of_reset, of_update, of_candidate = of_inputs[now].split(size, dim=1)
            here = of_hidden[now]
            tanh_gradient(here * (1 - update), candidate, out=of_candidate)
            sigmoid_gradient(here * (hidden_before[now] - candidate), update, out=of_update)
            sigmoid_gradient(of_candidate * product[now], reset, out=of_reset)
            of_products[now] = of_inputs[now]
            of_products[now][:, 2 * size :] *= reset
            if before.stop:
                of_before = torch.addmm(here * update, of_products[now], weight)
                of_hidden[before].index_add_(0, tree.parent[now], of_before)
        return of_inputs, of_products.t() @ hidden_before, of_products[:, 2 * size :].sum(dim=0), None


END = 0  # padding in a table of words; as an input it is the sentence's start, as a target its end


@dataclass(frozen=True)
class Teaching:
    """Inputs and targets of a decoder: at each step it reads the word before and predicts the word itself."""

    tree: Prefixes  # of the inputs
    target: Tensor  # (P,) the word that follows each prefix
    sentence: Tensor  # (P,) the row of the sentence that each prefix begins


def teaching(words: Integers, read: Integers) -> Teaching:
    """Arranges sentences for a decoder; the result's tensors are on the CPU.

    `words` (S, longest), padded with 0, and the end are the targets. `read` (S, longest) are the inputs of all
    predictions but the first: the same words, or those that scheduled sampling drew.
    """
    steps = (words != END).sum(axis=1) + 1
    begun = np.pad(read, ((0, 0), (1, 0)), constant_values=END)
    ended = np.pad(words, ((0, 0), (0, 1)), constant_values=END)
    order = np.argsort(-steps, kind="stable")  # as `chains` has the sentences of each step
    alive = [int((steps > step).sum()) for step in range(int(steps.max()))]
    owner = np.concatenate([order[:count] for count in alive])
    target = ended[owner, np.repeat(np.arange(len(alive)), alive)]
    return Teaching(chains(begun, steps), *map(torch.from_numpy, (target, owner)))
