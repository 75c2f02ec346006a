"""NIC, against plain loops over images, sentences and words."""

import pytest
import torch
from torch.nn import functional

from tests.likelihoods import assert_loss_is, assert_scores_are, small

HIDDEN = 5


@pytest.fixture
def method():
    return small("nic", dimension=HIDDEN, word_dimension=4)


def literal(method, vector, words):
    """log p of a sentence, Eq 10 to 13: one step of the LSTM after the other."""
    decoder = method.decoder
    lstm, f = decoder.recurrent, decoder.words.weight
    image = method.image.weight @ vector + method.image.bias
    hidden = memory = torch.zeros(HIDDEN).double()
    total = 0.0
    for x, following in zip([image, decoder.start, *(f[word] for word in words)], [None, *words, 0], strict=True):
        gates = lstm.weight_input @ x + lstm.weight_hidden @ hidden + lstm.bias_input
        inner, forget, outer, candidate = gates.chunk(4)
        memory = forget.sigmoid() * memory + inner.sigmoid() * candidate.tanh()
        hidden = outer.sigmoid() * memory.tanh()
        if following is not None:
            p = functional.softmax(f @ (decoder.project.weight @ hidden) + decoder.bias, dim=0)
            total = total + p[following].log()
    return total


def test_scores_are_those_of_the_definition(method):
    assert_scores_are(method, literal)


def test_the_loss_and_its_gradient_are_those_of_the_definition(method):
    assert_loss_is(method, literal)
