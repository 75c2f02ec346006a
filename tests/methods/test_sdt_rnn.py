"""SDT-RNN and DeViSE against literal readings, in double precision."""

import numpy as np
import pytest
import torch

from densevse.methods.devise import DeViSE
from densevse.methods.global_ranking import mean_activation
from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.devise import Parameters as DeViSEParameters
from densevse.methods.parameters.sdt_rnn import Parameters
from densevse.methods.sdt_rnn import SDTRNN, relative_positions
from densevse.methods.structures import Dependencies, Words
from tests.gradients import assert_same
from tests.kernels import definitions

WORDS, RELATIONS, FEATURE, DIMENSION = 9, 3, 6, 5


def random_trees(counts, seed=0):
    """Dependency trees in which any word may govern any other."""
    generator = np.random.default_rng(seed)
    heads = []
    for count in counts:
        order, head = generator.permutation(count), np.full(count, -1)
        for place in range(1, count):
            head[order[place]] = order[generator.integers(place)]
        heads.append(np.where(head < 0, -1, head + sum(map(len, heads))))
    total = sum(counts)
    words, relation = generator.integers(1, WORDS, total), generator.integers(0, RELATIONS, total)
    return Dependencies(words, np.concatenate(heads).astype(np.int64), relation, np.array(counts))


def shapes(view="regions"):
    torch.manual_seed(5)
    return Shapes({view: FEATURE}, WORDS, torch.randn(WORDS, 4), {"relations": RELATIONS})


def make(**parameters):
    torch.manual_seed(0)
    return SDTRNN(Parameters(dimension=DIMENSION, **parameters), shapes()).double()


def literal_hidden(method, trees, node):
    """The h of a node and the number of words below it, by recursion."""
    x = method.words.weight[trees.word] @ method.word.weight.T
    weights = np.array([literal_weights(method, trees, *link) for link in zip(trees.head, range(len(x)), strict=True)])
    return definitions.sdt_rnn(method.child, x, trees.head, weights, node)


def literal_weights(method, trees, node, child):
    if method.by_position is None or node < 0:
        return trees.relation[child]
    siblings = [other for other in np.flatnonzero(trees.head == node) if (other > node) == (child > node)]
    nearer = sum(abs(other - node) < abs(child - node) for other in siblings)
    return min(nearer, method.by_position - 1) + (method.by_position if child > node else 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", ["relation", "position"])
def test_sentences_equal_the_literal_recursion(weights, seed):
    method, trees = make(weights=weights, positions=2), random_trees([7, 1, 4, 12], seed)
    (ours,) = method.encode_sentences(Sentences({"dependencies": trees}))
    literal = torch.stack([literal_hidden(method, trees, root)[0] for root in np.flatnonzero(trees.head < 0)])
    assert_same(ours, literal, [method.word.weight, method.child.weight])


def test_gradcheck():
    method, trees = make(), random_trees([4, 2])
    sentences = Sentences({"dependencies": trees})
    parameters = [method.word.weight, method.child.weight]
    assert torch.autograd.gradcheck(lambda *_: method.encode_sentences(sentences)[0], parameters)


def test_several_roots_are_weighted_by_their_words_and_no_word_is_zero():
    method = make()
    trees = Dependencies(np.array([2, 3, 4]), np.array([-1, 0, -1]), np.array([0, 1, 0]), np.array([3, 0]))
    (ours,) = method.encode_sentences(Sentences({"dependencies": trees}))
    (first, one), (second, other) = (literal_hidden(method, trees, root) for root in (0, 2))
    torch.testing.assert_close(ours[0], (one * first + other * second) / 3)
    assert (one, other) == (2, 1)
    assert (ours[1] == 0).all()


def test_three_hundred_words_in_one_chain():
    method = make()
    chain = Dependencies(np.full(300, 2), np.arange(-1, 299), np.zeros(300, np.int64), np.array([300]))
    (ours,) = method.encode_sentences(Sentences({"dependencies": chain}))
    torch.testing.assert_close(ours[0], literal_hidden(method, chain, 0)[0])


def test_positions_count_from_the_word_outwards():
    head = np.array([3, 3, 3, -1, 3, 3])
    assert relative_positions(head, 2).tolist() == [1, 1, 0, 0, 2, 3]
    assert relative_positions(np.empty(0, np.int64), 2).tolist() == []


def images():
    torch.manual_seed(1)
    present = torch.tensor([[True, True, True], [True, False, False]])
    scores = torch.tensor([[torch.inf, 0.9, 0.2], [torch.inf, -torch.inf, -torch.inf]])
    return Images({"regions": torch.randn(2, 3, FEATURE).double()}, present, scores)


def test_the_mean_is_over_the_full_frame_and_detections_above_the_threshold():
    of = images()
    vectors = of.views["regions"]
    both = torch.stack(((vectors[0, 0] + vectors[0, 1]) / 2, vectors[1, 0]))
    torch.testing.assert_close(mean_activation(of, 0.5), both)
    torch.testing.assert_close(mean_activation(of, 0.95), vectors[:, 0])
    whole = torch.randn(2, FEATURE)
    assert mean_activation(Images({"whole": whole}, torch.ones(2, 0)), 0.5) is whole


def test_devise_is_the_mean_of_normalised_word_vectors():
    method = DeViSE(DeViSEParameters(), shapes()).double()
    words = Words(torch.tensor([[3, 4, 1, 5], [1, 0, 0, 0]]), torch.tensor([4, 1]))
    (ours,) = method.encode_sentences(Sentences({"words": words}))
    vectors = [method.words.weight[word] for word in (3, 4, 5)]
    torch.testing.assert_close(ours[0], sum(vector / vector.norm() for vector in vectors) / 3)
    assert (ours[1] == 0).all()


def test_both_are_trained_by_the_global_ranking_objective():
    words = Words(torch.tensor([[3, 4], [2, 0]]), torch.tensor([2, 1]))
    sentences = Sentences({"dependencies": random_trees([2, 3]), "words": words})
    of = Batch(images(), sentences, torch.eye(2, dtype=torch.bool))
    for method in (make(), DeViSE(DeViSEParameters(), shapes()).double()):
        moment = Moment(1, "all", method.hyperparameters.model_copy(update={"margin": 0.4}))
        scores = method.score(method.encode_images(of.images), method.encode_sentences(sentences))
        contrast = [
            (scores[0, 1] - scores[0, 0] + 0.4).clamp(min=0),
            (scores[1, 0] - scores[0, 0] + 0.4).clamp(min=0),
            (scores[1, 0] - scores[1, 1] + 0.4).clamp(min=0),
            (scores[0, 1] - scores[1, 1] + 0.4).clamp(min=0),
        ]
        ours = method.loss(method.encode_images(of.images), method.encode_sentences(sentences), of, moment)
        torch.testing.assert_close(ours, sum(contrast) / 4)
