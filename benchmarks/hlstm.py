"""The H-LSTM against its bare matrix products and against pytorch-tree-lstm, on 128 captions.

The captions are synthetic: about 12 words each, with as many distinct words and repeated phrases as 128 captions of
Flickr8k (442 distinct words on average). `DENSEVSE_PARSES=<a shard of results/<dataset>/parses/<parser>>` uses real
parses.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median
from typing import NamedTuple

import numpy as np
import torch
import treelstm
from torch import nn

from benchmarks._timing import Contender
from densevse.config.environment import JOB_ENVIRONMENT
from densevse.kernels.hlstm import HLSTM, Subtrees, subtrees
from densevse.methods.structures import Trees
from densevse.runtime.numerics import set_up

WORDS = 4000
# A phrase is (children, whether it is a noun phrase); a leaf is (word, whether it is a noun phrase).
RULES = {
    "S": [(0.5, "NP VP"), (0.35, "NP VP PP"), (0.15, "NP")],
    "NP": [(0.35, "D N"), (0.25, "D J N"), (0.1, "N"), (0.3, "NP PP")],
    "VP": [(0.35, "V PP"), (0.3, "V NP"), (0.35, "V NP PP")],
    "PP": [(1.0, "I NP")],
}
CLASSES = {"D": (1, 8, 1.3), "J": (10, 400, 1.0), "N": (500, 2000, 0.8), "V": (2600, 700, 0.9), "I": (3400, 30, 1.2)}


class Sizes(NamedTuple):
    """Captions of a batch, values of a word's vector and of a state, and on how many threads each is timed."""

    captions: int
    dimension: int
    hidden: int
    threads: tuple[int, ...]
    repeats: int


FULL = Sizes(128, dimension=300, hidden=512, threads=tuple(sorted({1, torch.get_num_threads()})), repeats=9)
TOY = Sizes(3, dimension=4, hidden=5, threads=(1,), repeats=1)


def made_captions(captions: int, seed: int) -> Trees:
    """Random constituency trees whose words follow Zipf's law."""
    generator = np.random.default_rng(seed)
    word, parent, noun_phrase, root = [], [], [], []

    def node(index: int, is_noun_phrase: bool, children: list[int]) -> int:
        word.append(index)
        parent.append(-1)
        noun_phrase.append(is_noun_phrase)
        for child in children:
            parent[child] = len(word) - 1
        return len(word) - 1

    def grow(symbol: str, depth: int) -> int:
        if symbol in CLASSES:
            first, count, exponent = CLASSES[symbol]
            share = np.arange(1, count + 1) ** -exponent
            return node(first + int(generator.choice(count, p=share / share.sum())), False, [])
        chances, expansions = zip(*RULES[symbol], strict=True)
        symbols = expansions[generator.choice(len(chances), p=chances)].split() if depth < 6 else ["D", "N"]
        grown = [grow(part, depth + 1) for part in symbols]
        if len(grown) == 1:  # a unary chain is one node, with the topmost label
            noun_phrase[grown[0]] = symbol == "NP"
            return grown[0]
        return node(-1, symbol == "NP", grown)

    root = [grow("S", 0) for _ in range(captions)]
    return Trees(*map(np.array, (word, parent, noun_phrase, root)))


def captions(count: int) -> Trees:
    """So many captions: made ones, or real ones from DENSEVSE_PARSES."""
    path = os.environ.get("DENSEVSE_PARSES")
    return parsed_captions(path, count) if path else made_captions(count, seed=0)


def parsed_captions(path: str, count: int) -> Trees:
    """Captions of a shard of parses, drawn at random."""
    from densevse.artifacts.schemas.sentences import PARSES
    from densevse.language.trees import read_tree
    from snakeproof import schema

    parses = schema.read(path, PARSES, ["status", "tokens", "tree"])
    parses = parses[parses["status"] == "ok"].sample(count, random_state=0)
    numbers: dict[str, int] = {}
    parts: dict[str, list[np.ndarray]] = {name: [] for name in ("word", "parent", "noun_phrase", "root")}
    before = 0
    for tokens, bracketed in zip(parses["tokens"], parses["tree"], strict=True):
        tree = read_tree(bracketed)
        ids = np.array([numbers.setdefault(token.lower(), 1 + len(numbers)) for token in tokens])
        parts["word"].append(np.where(tree.token >= 0, ids[tree.token], -1))
        parts["parent"].append(np.where(tree.parent >= 0, tree.parent + before, -1))
        parts["noun_phrase"].append(tree.noun_phrase)
        before += len(tree.parent)
        parts["root"].append(np.array([before - 1]))
    return Trees(**{name: np.concatenate(part) for name, part in parts.items()})


def laid_out(trees: Trees) -> Subtrees:
    """The distinct subtrees, with types of children distinguished."""
    return subtrees(trees.word, trees.parent, trees.noun_phrase)


def products(layout: Subtrees, encoder: HLSTM) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The operands of every matrix product of the forward pass: leaves with W, senders with bar U and hat U."""
    leaf, u = encoder.w.detach(), encoder.u.detach()
    return [(torch.randn(len(layout.word), leaf.shape[1]), leaf)] + [
        (torch.randn(len(senders), matrix.shape[1]), matrix) for senders, matrix in zip(layout.senders, u, strict=True)
    ]


def reference_inputs(trees: Trees) -> dict[str, torch.Tensor]:
    """The same trees in the format of pytorch-tree-lstm (its planning is not timed)."""
    edges = np.array([(parent, child) for child, parent in enumerate(trees.parent) if parent >= 0])
    edges = edges[np.argsort(edges[:, 0], kind="stable")]
    node_order, edge_order = treelstm.calculate_evaluation_orders(edges, len(trees.word))
    arrays = {"node_order": node_order, "adjacency_list": edges, "edge_order": edge_order}
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def ours(sizes: Sizes) -> Callable[[], object]:
    """A step of the H-LSTM, its planning included."""
    trees, vectors = captions(sizes.captions), nn.Embedding(WORDS, sizes.dimension)
    encoder, chosen = HLSTM(inputs=sizes.dimension, hidden=sizes.hidden), wanted(trees)

    def step() -> None:
        layout = laid_out(trees)
        encoder(vectors, layout).index_select(0, layout.node[chosen]).sum().backward()

    return step


def theirs(sizes: Sizes) -> Callable[[], object]:
    """The same by pytorch-tree-lstm."""
    trees, vectors = captions(sizes.captions), nn.Embedding(WORDS, sizes.dimension)
    reference = treelstm.TreeLSTM(sizes.dimension, sizes.hidden)
    inputs, words, chosen = reference_inputs(trees), torch.from_numpy(trees.word).clamp(min=0), wanted(trees)

    def step() -> None:
        states, _ = reference(vectors(words), **inputs)
        states.index_select(0, chosen).sum().backward()

    return step


def bare_products(sizes: Sizes) -> Callable[[], object]:
    """Every product as one large product: forward, gradient of the input and gradient of the weights."""
    operands = products(laid_out(captions(sizes.captions)), HLSTM(inputs=sizes.dimension, hidden=sizes.hidden))

    def multiply() -> None:
        for rows, matrix in operands:
            gradient = rows @ matrix.T
            gradient @ matrix
            gradient.T @ rows

    return multiply


def wanted(trees: Trees) -> torch.Tensor:
    """The nodes whose states are used: sentences and phrases."""
    return torch.from_numpy(np.flatnonzero((trees.parent < 0) | trees.noun_phrase))


def contender(
    make: Callable[[Sizes], Callable[[], object]], sizes: Sizes, threads: int, as_in_jobs: bool
) -> Callable[[], object]:
    """Runs in the contender's process, with the settings of every job here, or with PyTorch's defaults."""
    torch.manual_seed(0)
    if as_in_jobs:
        set_up(threads)
    else:
        torch.set_num_threads(threads)
    return make(sizes)


def measure(sizes: Sizes, threads: int) -> dict[str, float]:
    """The median seconds of each contender, in alternation, after an unmeasured one."""
    with ExitStack() as stack:
        running = {
            make.__name__: stack.enter_context(
                Contender(
                    contender, make, sizes, threads, as_in_jobs, environment=JOB_ENVIRONMENT if as_in_jobs else {}
                )
            )
            for make, as_in_jobs in ((ours, True), (bare_products, True), (theirs, False))
        }
        seconds = [{name: one.seconds() for name, one in running.items()} for _ in range(1 + sizes.repeats)]
    return {name: median(times[name] for times in seconds[1:]) for name in running}


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, measured ratio and note: on one thread, and on all cores."""
    return [row for threads in sizes.threads for row in rows_with(sizes, threads)]


def rows_with(sizes: Sizes, threads: int) -> list[tuple[str, str, float, str]]:
    """The rows for a number of threads."""
    seconds = measure(sizes, threads)
    times = ", ".join(f"{name} {1000 * value:.0f} ms" for name, value in seconds.items())
    work = f"{sizes.captions} captions, forward and backward, threads: {threads}"
    against_products, against_theirs = seconds["ours"] / seconds["bare_products"], seconds["theirs"] / seconds["ours"]
    return [
        (f"H-LSTM against its bare matrix products; {work}", "at most 1.7", against_products, times),
        (f"pytorch-tree-lstm against H-LSTM; {work}", "at least 3", against_theirs, times),
    ]
