"""SC-NLM and its baselines against their equations, one word at a time, in double precision."""

import pytest
import torch
from torch.nn import functional

from densevse.methods.generators.sc_nlm import SCNLM, positions
from densevse.methods.interface import Shapes
from densevse.methods.parameters.generators.sc_nlm import Parameters
from densevse.methods.structures import Tags

WORDS, TAGS, CONTENT = 9, 5, 4
SENTENCES = Tags(
    torch.tensor([[2, 3, 4, 0], [5, 0, 0, 0], [2, 3, 6, 8]]),
    torch.tensor([[2, 3, 4, 0], [4, 0, 0, 0], [2, 3, 3, 2]]),
    torch.tensor([3, 1, 4]),
)
KINDS = ("none", "content", "structure_and_content")


def make(attributes="structure_and_content", **parameters):
    torch.manual_seed(0)
    sizes = {"word_context": 2, "tag_context": 3, "dimension": 3, "factors": 6, "attribute_dimension": 5}
    shapes = Shapes({"content": CONTENT}, WORDS, sizes={"tags": TAGS})
    model = SCNLM(Parameters(attributes=attributes, **sizes, **parameters), shapes).double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) / 2)
    return model


def content():
    return torch.randn(3, CONTENT, dtype=torch.double, generator=torch.Generator().manual_seed(1))


def literal(model, v, words, tags):
    """The equations of the module's docstring, literally."""
    w_fv, w_fk = model.w_fv.t(), model.w_fk.weight  # (F, V), (F, K)
    e = w_fk.t() @ w_fv
    c = model.c.weight.chunk(2, dim=1)
    total = 0.0
    for n in range(len(words) + 1):
        r = 0.0
        for i in (1, 2):
            r = r + c[i - 1] @ e[:, words[n - i] if n - i >= 0 else 0]
        f = w_fk @ r
        kind = model.hyperparameters.attributes
        if kind != "none":
            u = model.t_v.weight @ v + model.t_v.bias
            if kind == "structure_and_content":
                t = model.t.weight.view(3, TAGS, -1)
                for i in range(3):
                    u = u + t[i, tags[n + i] if n + i < len(tags) else 0]
            f = f * (model.w_fd.weight @ u.relu())
        p = functional.softmax(w_fv.t() @ f + model.b, dim=0)
        total = total - p[words[n] if n < len(words) else 0].log()
    return total


@pytest.mark.parametrize("kind", KINDS)
def test_likelihoods_and_gradients_are_those_of_the_equations(kind):
    model, v = make(kind), content()
    found = model.negative_log_likelihood(v, SENTENCES)
    expected = torch.stack(
        [
            literal(model, v[row], SENTENCES.words[row, :length].tolist(), SENTENCES.tags[row, :length].tolist())
            for row, length in enumerate(SENTENCES.lengths)
        ]
    )
    assert torch.allclose(found, expected)
    gradients = [torch.autograd.grad(each.sum(), list(model.parameters())) for each in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        assert torch.allclose(one, other)


def test_every_word_and_the_end_are_predicted():
    asked = positions(SENTENCES, 2, 3)
    assert asked.sentence.tolist() == [0] * 4 + [1] * 2 + [2] * 5
    assert asked.target.tolist() == [2, 3, 4, 0, 5, 0, 2, 3, 6, 8, 0]
    assert asked.before[3].tolist() == [4, 3]
    assert asked.before[4].tolist() == [0, 0]
    assert asked.tags[2].tolist() == [4, 0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_model_does_not_read_changes_nothing(kind):
    model, v = make(kind), content()
    other_tags = Tags(SENTENCES.words, SENTENCES.tags.flip(0), SENTENCES.lengths)
    before = model.negative_log_likelihood(v, SENTENCES)
    assert torch.allclose(model.negative_log_likelihood(-v, SENTENCES), before) == (kind == "none")
    assert torch.allclose(model.negative_log_likelihood(v, other_tags), before) == (kind != "structure_and_content")


@pytest.mark.parametrize("kind", KINDS)
def test_standardised_content_has_mean_0_and_variance_1_in_training_and_writing(kind):
    plain, standardised = make(kind), make(kind, standardised_content=True)
    v = functional.normalize(content())
    centred = v - v.mean(dim=1, keepdim=True)
    expected = centred / (centred.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()
    for one, other in (
        (standardised.negative_log_likelihood(v, SENTENCES), plain.negative_log_likelihood(expected, SENTENCES)),
        (standardised.begin(v, SENTENCES.tags)[0], plain.begin(expected, SENTENCES.tags)[0]),
    ):
        assert torch.allclose(one, other)


def test_standardised_content_of_equal_values_is_zero():
    plain, standardised = make(), make(standardised_content=True)
    v = torch.full((3, CONTENT), 0.5, dtype=torch.double)
    expected = plain.negative_log_likelihood(torch.zeros_like(v), SENTENCES)
    assert torch.allclose(standardised.negative_log_likelihood(v, SENTENCES), expected)
