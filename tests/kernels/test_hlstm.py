"""The batched H-LSTM against its definition, the literal recursion of Eq 2-8."""

import numpy as np
import pytest
import torch
from torch import nn

from densevse.kernels import hlstm
from densevse.kernels.hlstm import HLSTM, Alike, find_same_nodes, subtrees
from tests.gradients import assert_same
from tests.kernels import definitions


def make_trees(*sentences):
    """The words, parents and noun phrases of trees, from nested tuples.

    A leaf is (word, whether it is a noun phrase), an inner node (its children, whether it is one).
    """
    word, parent, noun_phrase = [], [], []

    def add(node):
        children = [add(child) for child in node[0]] if isinstance(node[0], list) else []
        word.append(-1 if children else node[0])
        parent.append(-1)
        noun_phrase.append(node[1])
        for child in children:
            parent[child] = len(word) - 1
        return len(word) - 1

    for sentence in sentences:
        add(sentence)
    return np.array(word), np.array(parent), np.array(noun_phrase)


def random_tree(generator, words, depth=0):
    if depth and generator.random() < 0.2 + 0.2 * depth:
        return (int(generator.integers(1, words)), bool(generator.random() < 0.3))
    children = [random_tree(generator, words, depth + 1) for _ in range(generator.integers(2, 5))]
    return (children, bool(generator.random() < 0.5))


def random_trees(sentences, words=6, seed=0):
    generator = np.random.default_rng(seed)
    return make_trees(*(random_tree(generator, words) for _ in range(sentences)))


@pytest.fixture(params=[True, False], ids=["typed", "untyped"])
def encoder(request):
    torch.manual_seed(0)
    return HLSTM(inputs=5, hidden=7, typed=request.param).double()


@pytest.fixture
def vectors():
    torch.manual_seed(1)
    return nn.Embedding(6, 5).double()


def states(encoder, vectors, trees):
    """(nodes, hidden) by the kernel."""
    layout = laid_out(encoder, trees)
    return encoder(vectors, layout)[layout.node]


def laid_out(encoder, trees):
    word, parent, noun_phrase = trees
    return subtrees(word, parent, noun_phrase if encoder.typed else None)


@pytest.mark.parametrize("seed", range(4))
def test_values_and_gradients_equal_the_recursive_reading(encoder, vectors, seed):
    trees = random_trees(9, seed=seed)
    literal = definitions.h_lstm(encoder, vectors.weight, *trees)
    assert_same(states(encoder, vectors, trees), literal, [vectors.weight, *encoder.parameters()])


def test_kernels_in_triton_equal_the_recursive_reading(monkeypatch, interpreted, encoder, vectors):
    kernels = interpreted("fused_hlstm")
    monkeypatch.setattr(hlstm, "_steps", lambda device: kernels)
    test_values_and_gradients_equal_the_recursive_reading(encoder, vectors, seed=0)


def test_a_sentence_of_one_word_and_one_that_is_a_single_noun_phrase(encoder, vectors):
    trees = make_trees((3, True), ([(1, False), (2, True)], True))
    torch.testing.assert_close(states(encoder, vectors, trees), definitions.h_lstm(encoder, vectors.weight, *trees))


def test_only_one_word_sentences(encoder, vectors):
    states(encoder, vectors, make_trees((3, True), (2, False))).sum().backward()
    assert encoder.w.grad.abs().sum() > 0
    assert encoder.u.grad.abs().sum() == 0


def test_identical_subtrees_are_computed_once():
    a_dog = ([(1, False), (2, False)], True)
    trees = make_trees(([a_dog, (3, False), a_dog], False), ([a_dog, (4, False)], False))
    layout = subtrees(*trees)
    assert len(trees[0]) == 13
    assert layout.levels[-1].nodes.stop == 4 + 1 + 2  # four words, "a dog", two sentences
    assert [len(senders) for senders in layout.senders] == [4, 1]  # the words are sent as others, "a dog" as an NP


def test_nodes_that_are_alike_may_be_found_among_more_trees():
    word, parent, noun_phrase = random_trees(9, words=8)
    cut = int(np.flatnonzero(parent < 0)[4]) + 1  # after the fifth tree
    later = word[cut:], np.where(parent[cut:] < 0, -1, parent[cut:] - cut), noun_phrase[cut:]
    among = Alike(*(part[cut:] for part in find_same_nodes(word, parent, noun_phrase)))
    alone, found = subtrees(*later), subtrees(*later, among)
    assert torch.equal(alone.node, found.node)
    assert repr(alone.levels) == repr(found.levels)


def test_a_word_may_be_a_noun_phrase_in_one_place_and_not_in_another(encoder, vectors):
    dogs, dog = (2, True), (2, False)
    trees = make_trees(([dogs, (3, False)], False), ([(1, False), dog], True))
    assert laid_out(encoder, trees).levels[0].nodes == slice(0, 3)
    torch.testing.assert_close(states(encoder, vectors, trees), definitions.h_lstm(encoder, vectors.weight, *trees))


def test_the_types_of_children_matter_only_where_typed(vectors):
    same_words = [make_trees(([(1, False), (2, kind)], False)) for kind in (False, True)]
    for typed in (True, False):
        torch.manual_seed(0)
        encoder = HLSTM(inputs=5, hidden=7, typed=typed).double()
        roots = [states(encoder, vectors, trees)[-1] for trees in same_words]
        assert torch.equal(*roots) != typed


def test_the_root_of_a_sentence_may_be_a_phrase_of_another(encoder, vectors):
    a_dog = ([(1, False), (2, False)], True)
    trees = make_trees(a_dog, ([a_dog, (3, False)], False))
    torch.testing.assert_close(states(encoder, vectors, trees), definitions.h_lstm(encoder, vectors.weight, *trees))


def test_words_without_any_spread_leave_finite_weights():
    encoder = HLSTM(inputs=5, hidden=7, spread=0.0)
    assert torch.isfinite(encoder.w).all()
    assert encoder.w.abs().sum() > 0
