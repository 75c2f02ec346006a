import random
import time

import nltk
import numpy as np
import pytest

from densevse.language.trees import Tree, phrases, read_tree
from snakeproof.errors import InputError

CAPTION = (
    "(ROOT (NP (NP (DT a) (JJ brown) (NN dog)) (VP (VBG jumping) (PP (IN over) (NP (NP (NN fence)) "
    "(PP (IN near) (NP (PRP it))))))))"
)


def spans(tree: Tree, nodes: np.ndarray) -> list[tuple[int, int]]:
    return [(int(tree.start[node]), int(tree.end[node])) for node in nodes]


def random_tree(draw: random.Random, depth: int) -> nltk.Tree:
    if depth == 0 or draw.random() < 0.2:
        return nltk.Tree(draw.choice(["NN", "NNP", "IN"]), [draw.choice(["dog", "-LRB-", "n't", "%", "😀"])])
    children = [random_tree(draw, depth - 1) for _ in range(draw.choice([1, 1, 2, 3]))]
    return nltk.Tree(draw.choice(["NP", "NP-TMP", "VP", "S"]), children)


def collapsed(tree: nltk.Tree, start: int, found: list[tuple[str, int, int]]) -> int:
    """Read literally: a unary chain has its topmost label. The label and span of every node, in order."""
    label = tree.label()
    while len(tree) == 1 and isinstance(tree[0], nltk.Tree):
        tree = tree[0]
        label = tree.label() if label == "ROOT" else label
    if isinstance(tree[0], str):
        found.append((label, start, start + 1))
        return start + 1
    end = start
    for child in tree:
        end = collapsed(child, end, found)
    found.append((label, start, end))
    return end


def test_noun_phrases_of_a_caption() -> None:
    tree = read_tree(CAPTION)
    # The caption is a noun phrase itself: it is the sentence, not one of its phrases.
    assert spans(tree, phrases(tree)) == [(0, 3), (5, 6), (7, 8), (5, 8)]
    assert tree.label[-1] == "NP"
    assert tree.noun_phrase[-1]


def test_agrees_with_a_literal_reading() -> None:
    draw = random.Random(0)
    for _ in range(300):
        drawn = nltk.Tree("ROOT", [random_tree(draw, 6)])
        expected: list[tuple[str, int, int]] = []
        words = collapsed(drawn, 0, expected)
        tree = read_tree(drawn.pformat(margin=draw.choice([20, 10_000])))
        assert list(zip(tree.label, tree.start, tree.end, strict=True)) == expected
        assert [int(token) for token in tree.token if token >= 0] == list(range(words))


def test_structure() -> None:
    draw = random.Random(1)
    for _ in range(200):
        tree = read_tree(nltk.Tree("ROOT", [random_tree(draw, 6)]).pformat())
        nodes = len(tree.label)
        assert all(len(part) == nodes for part in (tree.parent, tree.token, tree.start, tree.end, tree.noun_phrase))
        assert tree.parent[-1] == -1
        assert all(tree.parent[:-1] > np.arange(nodes - 1))
        assert len(set(spans(tree, np.arange(nodes)))) == nodes
        assert set(np.flatnonzero(tree.token < 0)) == set(tree.parent[:-1])


def test_a_unary_chain_is_one_leaf_with_the_topmost_label() -> None:
    tree = read_tree("(ROOT (S (NP (NP (NN dogs))) (VP (VBP run))))")
    assert tree.label == ["NP", "VP", "S"]
    assert list(tree.token) == [0, 1, -1]
    assert list(phrases(tree)) == [0]


@pytest.mark.parametrize("text", ["(ROOT (NN dog))", "(NP (NN dog))", "( (NP (NN dog)) )", "(ROOT\n  (NP (NN dog)))"])
def test_one_word_is_one_node(text: str) -> None:
    tree = read_tree(text)
    assert len(tree.label) == 1
    assert list(tree.parent) == [-1]
    assert list(tree.token) == [0]
    assert len(phrases(tree)) == 0


def test_brackets_in_words() -> None:
    tree = read_tree("(ROOT (NP (NN dog) (-LRB- -LRB-) (NP-TMP (NN today)) (-RRB- -RRB-)))")
    assert tree.label == ["NN", "-LRB-", "NP-TMP", "-RRB-", "NP"]
    assert list(phrases(tree)) == [2]


def test_other_labels_that_begin_alike_are_not_noun_phrases() -> None:
    assert not read_tree("(S (NPX (DT a) (NN dog)) (NNP Rex))").noun_phrase.any()


@pytest.mark.parametrize(
    "text",
    ["", "dog", "(NP", "(NP (NN dog)", "(NP (NN dog)))", "(NP)", "(NN a) (NN b)", "(NP (NN a b))", "(NP a (NN b))"],
)
def test_what_is_no_tree_is_named(text: str) -> None:
    with pytest.raises(InputError, match="not a tree"):
        read_tree(text)


def test_a_very_deep_tree() -> None:
    tree = read_tree("(NP (NN a) " * 50_000 + "(NN b)" + ")" * 50_000)
    assert len(tree.label) == 100_001


def test_speed() -> None:
    """35,000 captions are read in a few seconds; the bound is loose because machines are busy."""
    begin = time.process_time()
    for _ in range(3_500):
        read_tree(CAPTION)
    assert time.process_time() - begin < 1.0
