"""m-RNN, against plain loops over images, sentences and words."""

import pytest
import torch
from torch.nn import functional

from tests.likelihoods import assert_loss_is, assert_scores_are, small

SIZE = 4


@pytest.fixture
def method():
    return small("m_rnn", embedding=3, word_dimension=SIZE, multimodal=5)


def literal(method, vector, words):
    """log p of a sentence, Eq 2 to 4, one word after the other."""
    total, r = 0.0, torch.zeros(SIZE).double()
    read = [method.start, *(method.words.weight[word] for word in words)]
    for embedded, following in zip(read, [*words, 0], strict=True):
        w = method.embedding.weight @ embedded
        r = functional.relu(method.u_r @ r + w)
        m = method.v_w.weight @ w + method.v_r.weight @ r + method.v_i.weight @ vector
        m = 1.7159 * torch.tanh(2 * m / 3)
        total = total + functional.softmax(method.softmax.weight @ m + method.softmax.bias, dim=0)[following].log()
    return total


def test_scores_are_those_of_the_definition(method):
    assert_scores_are(method, literal)


def test_the_loss_and_its_gradient_are_those_of_the_definition(method):
    assert_loss_is(method, literal)
