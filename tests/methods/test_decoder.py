"""The decoder of Eq 3 against a literal loop over sentences and words."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from densevse.kernels.recurrent import teaching
from densevse.methods.decoder import Decoder
from densevse.methods.structures import Words

WORDS, DIMENSION, HIDDEN = 7, 3, 4
LENGTHS = torch.tensor([3, 1, 4])
SENTENCES = Words(torch.tensor([[2, 3, 4, 0], [5, 0, 0, 0], [2, 3, 6, 4]]), LENGTHS)


@pytest.fixture
def decoder():
    torch.manual_seed(0)
    made = Decoder(nn.Embedding(WORDS, DIMENSION, padding_idx=0), HIDDEN).double()
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(torch.randn_like(weight))
    return made


@pytest.fixture
def initial():
    return torch.randn(3, HIDDEN, dtype=torch.double, generator=torch.Generator().manual_seed(1))


def literal(decoder, state, words):
    """Eq 3 and L_gen as printed, one word after the other, with the projection that they lack."""
    recurrent, f = decoder.recurrent, decoder.words.weight
    read = torch.cat((decoder.start.unsqueeze(0), f[1:]))  # the start in place of the end, which is never read
    of_word, of_state = recurrent.weight_input.chunk(4), recurrent.weight_hidden.chunk(4)
    bias = recurrent.bias_input.chunk(4)  # input, forget, output, candidate
    hidden, memory, before, total = state, torch.zeros_like(state), 0, 0.0
    for word in [*words, 0]:
        i, o, forget, candidate = (
            of_word[gate] @ read[before] + of_state[gate] @ hidden + bias[gate] for gate in (0, 2, 1, 3)
        )
        memory = forget.sigmoid() * memory + i.sigmoid() * candidate.tanh()
        hidden = o.sigmoid() * memory.tanh()
        q = functional.softmax(f @ (decoder.project.weight @ hidden) + decoder.bias, dim=0)
        total = total - q[word].log()
        before = word
    return total


def test_likelihoods_are_those_of_the_literal_loop(decoder, initial):
    found = decoder.negative_log_likelihood(initial, SENTENCES)
    for row, length in enumerate(LENGTHS):
        assert torch.allclose(found[row], literal(decoder, initial[row], SENTENCES.index[row, :length].tolist()))


def test_rare_words_may_be_the_unknown_word(decoder, initial):
    torch.manual_seed(0)
    limited = Decoder(decoder.words, HIDDEN, most_frequent=5).double()
    for name in ("recurrent", "project"):
        getattr(limited, name).load_state_dict(getattr(decoder, name).state_dict())
    with torch.no_grad():
        limited.start.copy_(decoder.start)
        limited.bias.copy_(decoder.bias[:5])
        decoder.bias[5:] = -torch.inf  # so that the literal loop never predicts them
    found = limited.negative_log_likelihood(initial, SENTENCES)
    for row, sentence in enumerate(([2, 3, 4], [1], [2, 3, 1, 4])):
        assert torch.allclose(found[row], literal(decoder, initial[row], sentence))


def test_gradients_of_states_and_weights(decoder, initial):
    names = [name for name, _ in decoder.named_parameters()]

    def losses(initial, *weights):
        given = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(_Likelihood(decoder), {f"inner.{k}": v for k, v in given.items()}, (initial,))

    expected = torch.autograd.grad(
        sum(
            literal(decoder, initial[row], SENTENCES.index[row, :length].tolist()) for row, length in enumerate(LENGTHS)
        ),
        list(decoder.parameters()),
    )
    found = torch.autograd.grad(decoder.negative_log_likelihood(initial, SENTENCES).sum(), list(decoder.parameters()))
    for name, one, other in zip(names, found, expected, strict=True):
        assert torch.allclose(one, other), name
    # Numerical derivatives also find a row of weights that autograd leaves out of both gradients above.
    assert torch.autograd.gradcheck(losses, (initial.requires_grad_(), *decoder.parameters()))


class _Likelihood(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, initial):
        return self.inner.negative_log_likelihood(initial, SENTENCES)


def test_a_step_is_that_of_the_whole(decoder, initial):
    taught = teaching(SENTENCES.index.numpy(), SENTENCES.index.numpy())
    states = decoder.recurrent.states(decoder.inputs(taught.tree.distinct), taught.tree, initial)
    hidden, memory = initial, torch.zeros_like(initial)
    for word in (torch.zeros(3, dtype=torch.long), SENTENCES.index[:, 0]):
        hidden, memory = decoder.recurrent.step(decoder.inputs(word), hidden, memory)
    second = slice(3, 6)  # every sentence has two inputs: the start and its first word
    assert torch.allclose(states[second], hidden[taught.sentence[second]])


def test_sampling_draws_the_share_that_is_asked_for(decoder, initial):
    words, states = SENTENCES.index[2:].expand(400, -1), initial[:1].expand(400, -1)
    many = Words(words, LENGTHS[2:].expand(400))
    torch.manual_seed(0)
    assert torch.equal(decoder.sample(states, many, 0.0).index, words)
    changed = (decoder.sample(states, many, 0.5).index != words).double().mean()
    assert 0.2 < changed < 0.5  # half are drawn, and some draws are the word itself
