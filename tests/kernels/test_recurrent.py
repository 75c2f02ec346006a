"""LSTM and GRU over a tree of prefixes, against PyTorch's own and the definition, sentence by sentence."""

import numpy as np
import pytest
import torch
from torch import nn

from densevse.kernels import recurrent
from densevse.kernels.recurrent import Recurrent, chains, prefixes, teaching
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
@pytest.mark.usefixtures("ours_and_library")
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
@pytest.mark.usefixtures("ours_and_library")
def test_states_and_gradients_are_those_of_the_definition(kind, sentences):
    words, lengths = sentences
    ours, tree = layer(kind), prefixes(words.numpy(), CPU)
    vectors = torch.randn(WORDS, INPUTS, dtype=torch.double, requires_grad=True)
    found = ours.states(vectors[tree.distinct], tree)[tree.ends]
    present = torch.arange(6) < lengths[:, None]
    literal = [states_of(kind, ours, vectors, row[:length]) for row, length in zip(words, lengths, strict=True)]
    assert_same(found[present], torch.cat(literal), [vectors, *ours.parameters()])


@pytest.mark.usefixtures("ours_and_library")
def test_sentences_may_each_begin_from_a_state_of_their_own(sentences):
    words, lengths = sentences
    ours, tree = layer("lstm"), chains(words.numpy(), lengths.numpy())
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
    tree = chains(words.numpy(), lengths.numpy())
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


# The LSTM cell with its hand-written gradient, and its functions.


@pytest.mark.parametrize("part", [0, 1])
def test_the_cell_and_its_gradients_are_those_of_the_definition(part):
    torch.manual_seed(0)
    given = [torch.randn(6, size, dtype=torch.double, requires_grad=True) for size in (12, 3)]
    assert_same(recurrent.lstm_cell(*given)[part], definitions.lstm_cell(*given)[part], given)


def test_the_cell_leaves_its_inputs_as_they_are():
    given = torch.randn(2, 12), torch.randn(2, 3)
    before = [tensor.clone() for tensor in given]
    recurrent.lstm_cell(*given)
    assert all(map(torch.equal, given, before))


@pytest.mark.parametrize(("function", "through"), [("sigmoid", "sigmoid_gradient"), ("tanh", "tanh_gradient")])
def test_gradients_from_outputs(function, through):
    x = torch.linspace(-4, 4, 9, dtype=torch.double, requires_grad=True)
    output, gradient = getattr(torch, function)(x), torch.arange(9.0, dtype=torch.double)
    (expected,) = torch.autograd.grad(output, x, gradient)
    into = torch.empty_like(expected)
    torch.testing.assert_close(getattr(recurrent, through)(gradient, output.detach()), expected)
    assert getattr(recurrent, through)(gradient, output.detach(), out=into) is into
    torch.testing.assert_close(into, expected)


def test_the_logistic_function_in_place_also_of_large_numbers():
    x = torch.tensor([-1000.0, -20, -1, 0, 1, 20, 1000])
    expected = x.sigmoid()
    torch.testing.assert_close(recurrent.sigmoid_(x), expected)
    torch.testing.assert_close(x, expected)


# The layout of sentences that are predicted, against each sentence's own list.

TABLE = np.array([[2, 3, 4, 0], [5, 0, 0, 0], [2, 3, 6, 4]])


def laid_out(taught, row):
    """Pairs of what the sentence reads and predicts, step by step."""
    mine = taught.sentence == row
    return list(zip(taught.tree.distinct[taught.tree.word[mine]].tolist(), taught.target[mine].tolist(), strict=True))


def test_each_sentence_reads_and_predicts_what_the_definition_says():
    taught = teaching(TABLE, TABLE)
    for row, words in enumerate(TABLE):
        assert laid_out(taught, row) == definitions.predictions(words[words > 0].tolist())


def test_other_words_may_be_read_than_are_predicted():
    read = np.where(TABLE == 3, 7, TABLE)
    taught = teaching(TABLE, read)
    assert laid_out(taught, 0) == [(0, 2), (2, 3), (7, 4), (4, 0)]
    assert laid_out(taught, 1) == [(0, 5), (5, 0)]
