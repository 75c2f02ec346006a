"""LSTM and GRU over a tree of prefixes against PyTorch's own, sentence by sentence."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from densevse.kernels.recurrent import Recurrent, prefixes
from densevse.methods.structures import Words

HIDDEN, INPUTS, WORDS = 4, 5, 4


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
    tree = prefixes(Words(words, lengths))
    found = ours(vectors[tree.distinct], tree)
    for row, length in enumerate(lengths):
        state = pytorch_twin(ours)(vectors[words[row, :length]][None])[1]
        expected = (state[0] if kind == "lstm" else state)[0, 0]
        assert torch.allclose(found[row], expected)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_gradients(kind, sentences):
    tree = prefixes(Words(*sentences))
    ours = layer(kind)
    names = [name for name, _ in ours.named_parameters()]
    vectors = torch.randn(WORDS, INPUTS, dtype=torch.double, requires_grad=True)

    def states(vectors, *weights):
        distinct = functional.embedding(tree.distinct, vectors)
        return torch.func.functional_call(ours, dict(zip(names, weights, strict=True)), (distinct, tree))

    assert torch.autograd.gradcheck(states, (vectors, *ours.parameters()))


def test_each_prefix_once():
    words = torch.tensor([[2, 3, 4], [2, 3, 5], [2, 3, 0], [3, 2, 0], [2, 3, 4]])
    tree = prefixes(Words(words, torch.tensor([3, 3, 2, 2, 3])))
    assert tree.sizes == [2, 2, 2]
    assert tree.sentence[0] == tree.sentence[4]
    assert len(set(tree.sentence.tolist())) == 4
