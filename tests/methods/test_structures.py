"""The structures of sentences: heads of phrases and leaves of trees."""

import numpy as np

from densevse.language.trees import read_tree
from densevse.methods.structures import Trees


def heads(bracketed, words):
    """The head's word of each noun phrase of a bracketed tree, the last phrase first."""
    tree = read_tree(bracketed)
    index = np.append(np.arange(len(words)), -1)[tree.token]
    trees = Trees(index, np.array(tree.parent), np.array(tree.noun_phrase), np.array([len(tree.parent) - 1]))
    found = trees.heads()
    assert (found[index >= 0] == index[index >= 0]).all(), "a leaf's head is its word"
    return [words[found[node]] for node in np.flatnonzero(tree.noun_phrase)[::-1]]


def test_a_phrase_that_ends_in_a_word_has_it_for_its_head():
    assert heads("(NP (DT a) (JJ brown) (NN dog))", ["a", "brown", "dog"]) == ["dog"]
    assert heads("(NP (NP (DT a) (NN man) (POS 's)) (NN hat))", ["a", "man", "'s", "hat"]) == ["hat", "'s"]


def test_another_has_that_of_its_first_noun_phrase():
    on_a_sofa = "(NP (NP (DT a) (NN dog)) (PP (IN on) (NP (DT a) (NN sofa))))"
    assert heads(on_a_sofa, ["a", "dog", "on", "a", "sofa"]) == ["dog", "sofa", "dog"]
    both = "(NP (NP (DT a) (NN dog)) (CC and) (NP (DT a) (NN cat)))"
    assert heads(both, ["a", "dog", "and", "a", "cat"]) == ["dog", "cat", "dog"]


def test_leaves_stand_in_the_order_of_the_words():
    first, second = (read_tree(text) for text in ("(S (NP (DT a) (NN dog)) (VP (VBZ runs)))", "(NP (NN sand))"))
    count = len(first.parent)
    index = np.concatenate([np.append(np.arange(5), -1)[first.token], np.append([7], -1)[second.token]])
    parent = np.concatenate([first.parent, np.where(np.array(second.parent) < 0, -1, np.array(second.parent) + count)])
    phrase = np.concatenate([first.noun_phrase, second.noun_phrase])
    trees = Trees(index, parent, phrase, np.array([count - 1, len(index) - 1]))
    leaves = trees.leaves()
    assert leaves.shape == (2, 3)
    assert trees.word[leaves[0]].tolist() == [0, 1, 2]
    assert trees.word[leaves[1, 0]] == 7
    assert leaves[1, 1:].tolist() == [-1, -1]
