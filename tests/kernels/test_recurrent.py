"""LSTM and GRU over a tree of prefixes, against PyTorch's own and the definition, sentence by sentence."""

import pytest
import torch
from torch import nn

from densevse.kernels.recurrent import Recurrent, chains, prefixes
from tests.gradients import assert_same
from tests.kernels import definitions

HIDDEN, INPUTS, WORDS = 4, 5, 4
CPU = torch.device("cpu")


@pytest.fixture
def sentences():
    """Words of a small vocabulary, so that many sentences begin alike; padded with 0, of lengths 1 to 6."""
    lengths = torch.tensor([6, 1, 3, 2, 6, 4, 5])
    words = torch.randint(1, WORDS, (7, 6), generator=torch.Generator().manual_seed(0))
    return words.masked_fill(torch.arange(6) >= lengths[:, None], 0), lengths


def pytorch_twin(ours):
    """PyTorch's layer with the same weights; its LSTM stacks gates as input, forget, candidate, output."""
    theirs = {"lstm": nn.LSTM, "gru": nn.GRU}[ours.kind](INPUTS, HIDDEN, batch_first=True).double()
    order = [0, 1, 3, 2] if ours.kind == "lstm" else [0, 1, 2]
    with torch.no_grad():
        for name, weight in (("weight_ih_l0", ours.weight_input), ("weight_hh_l0", ours.weight_hidden)):
            getattr(theirs, name).copy_(torch.cat([weight.chunk(len(order))[gate] for gate in order]))
        theirs.bias_ih_l0.copy_(torch.cat([ours.bias_input.chunk(len(order))[gate] for gate in order]))
        theirs.bias_hh_l0.zero_()
        if ours.kind == "gru":
            theirs.bias_hh_l0[2 * HIDDEN :] = ours.bias_hidden
    return theirs


def layer(kind):
    torch.manual_seed(1)
    made = Recurrent(kind, INPUTS, HIDDEN).double()
    with torch.no_grad():
        for weight in made.parameters():
            weight.add_(torch.randn_like(weight) / 3)
    return made


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_states_are_those_of_pytorch(kind, sentences):
    words, lengths = sentences
    ours = layer(kind)
    vectors = torch.randn(WORDS, INPUTS, dtype=torch.double)
    tree = prefixes(words.numpy(), CPU)
    found = ours(vectors[tree.distinct], tree)
    for row, length in enumerate(lengths):
        state = pytorch_twin(ours)(vectors[words[row, :length]][None])[1]
        expected = (state[0] if kind == "lstm" else state)[0, 0]
        assert torch.allclose(found[row], expected)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_the_recurrence_keeps_its_precision_under_autocast(kind, sentences):
    words, _ = sentences
    ours, tree = layer(kind).float(), prefixes(words.numpy(), CPU)
    for weight in ours.parameters():  # the product with the words has no error in half precision either
        weight.data = weight.data.bfloat16().float() if weight is ours.weight_input else weight.data
    ours.bias_input.data.zero_()
    vectors = torch.eye(WORDS, INPUTS)[tree.distinct]
    with torch.autocast("cpu", torch.bfloat16):
        found = ours(vectors, tree)
    assert torch.equal(found, ours(vectors, tree))


def states_of(kind, ours, vectors, words, initial=None):
    return definitions.gru(ours, vectors[words]) if kind == "gru" else definitions.lstm(ours, vectors[words], initial)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_states_and_gradients_are_those_of_the_definition(kind, sentences):
    words, lengths = sentences
    ours, tree = layer(kind), prefixes(words.numpy(), CPU)
    vectors = torch.randn(WORDS, INPUTS, dtype=torch.double, requires_grad=True)
    found = ours.states(vectors[tree.distinct], tree)[tree.of_words(lengths, 6)]
    present = torch.arange(6) < lengths[:, None]
    literal = [states_of(kind, ours, vectors, row[:length]) for row, length in zip(words, lengths, strict=True)]
    assert_same(found[present], torch.cat(literal), [vectors, *ours.parameters()])


def test_sentences_may_each_begin_from_a_state_of_their_own(sentences):
    words, lengths = sentences
    ours, tree = layer("lstm"), chains(words.numpy(), lengths.numpy(), CPU)
    vectors = torch.randn(WORDS, INPUTS, dtype=torch.double, requires_grad=True)
    initial = torch.randn(len(words), HIDDEN, dtype=torch.double, requires_grad=True)
    found = ours.states(vectors[tree.distinct], tree, initial)[tree.sentence]
    literal = [
        states_of("lstm", ours, vectors, row[:length], begun)[-1]
        for row, length, begun in zip(words, lengths, initial, strict=True)
    ]
    assert_same(found, torch.stack(literal), [vectors, initial, *ours.parameters()])


def test_only_an_lstm_begins_from_a_state(sentences):
    words, lengths = sentences
    tree = chains(words.numpy(), lengths.numpy(), CPU)
    with pytest.raises(ValueError, match="only an LSTM"):
        layer("gru").states(torch.zeros(WORDS, INPUTS, dtype=torch.double), tree, torch.zeros(7, HIDDEN))


def test_a_step_is_the_cell_of_the_definition():
    ours = layer("lstm")
    vectors, hidden, cell = (torch.randn(3, size, dtype=torch.double) for size in (INPUTS, HIDDEN, HIDDEN))
    gates = vectors @ ours.weight_input.T + ours.bias_input + hidden @ ours.weight_hidden.T
    for one, other in zip(ours.step(vectors, hidden, cell), definitions.lstm_cell(gates, cell), strict=True):
        torch.testing.assert_close(one, other)


def test_each_prefix_once():
    words = torch.tensor([[2, 3, 4], [2, 3, 5], [2, 3, 0], [3, 2, 0], [2, 3, 4]])
    tree = prefixes(words.numpy(), CPU)
    assert tree.sizes == [2, 2, 2]
    assert tree.sentence[0] == tree.sentence[4]
    assert len(set(tree.sentence.tolist())) == 4
