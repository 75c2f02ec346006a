import math
from types import SimpleNamespace

import pytest
import torch

from densevse.methods.parts import GeneralisedPooling, RankingLoss, hardest_hinges, hinge, hinges, sum_of_hinges


def brute_force(scores, positives, margin, reduce):
    """The ranking loss of the poster, a contrastive term at a time."""
    count, total = len(scores), 0.0
    for i in range(count):
        others = [k for k in range(count) if not positives[i, k]]
        total += reduce([max(0.0, margin - scores[i, i].item() + scores[i, k].item()) for k in others] or [0.0])
        others = [k for k in range(count) if not positives[k, i]]
        total += reduce([max(0.0, margin - scores[i, i].item() + scores[k, i].item()) for k in others] or [0.0])
    return total


@pytest.fixture
def scores():
    return torch.rand(6, 6, generator=torch.Generator().manual_seed(0), dtype=torch.double)


@pytest.fixture
def positives():
    image = torch.tensor([0, 1, 2, 1, 3, 1])  # one image comes with three of its sentences
    return image[:, None] == image[None, :]


@pytest.mark.parametrize(("loss", "reduce"), [(sum_of_hinges, sum), (hardest_hinges, max)])
def test_loss_is_that_of_the_equation(scores, positives, loss, reduce):
    assert loss(scores, positives, 0.3).item() == pytest.approx(brute_force(scores, positives, 0.3, reduce))


@pytest.mark.parametrize("loss", [sum_of_hinges, hardest_hinges])
def test_other_sentences_of_an_image_are_no_negatives(scores, positives, loss):
    before = loss(scores, positives, 0.3)
    changed = scores.clone()
    changed[1, 3] = changed[5, 1] = 100.0  # true pairs off the diagonal
    assert loss(changed, positives, 0.3) == before
    changed[1, 0] = 100.0
    assert loss(changed, positives, 0.3) > before


def test_hinges_name_the_matched_pair_of_their_direction():
    scores = torch.tensor([[0.9, 0.5], [0.4, 0.6]])
    sentences, images = hinges(scores, torch.eye(2, dtype=torch.bool), 0.2)
    assert torch.allclose(sentences, torch.tensor([[0.0, 0.0], [0.0, 0.0]]), atol=1e-6)
    assert torch.allclose(images, torch.tensor([[0.0, 0.1], [0.0, 0.0]]), atol=1e-6)


@pytest.mark.parametrize("loss", [sum_of_hinges, hardest_hinges])
def test_gradient(scores, positives, loss):
    assert torch.autograd.gradcheck(lambda s: loss(s, positives, 0.3), scores.clone().requires_grad_())


@pytest.mark.parametrize("loss", [sum_of_hinges, hardest_hinges])
def test_a_lone_pair_has_no_loss(loss):
    assert loss(torch.tensor([[0.1]]), torch.tensor([[True]]), 0.2) == 0


def test_a_hinge_of_exactly_0_has_no_gradient():
    scores = torch.tensor([[1.0, 0.5], [0.25, 1.0]], requires_grad=True)
    hinge(scores, scores.detach().diagonal(), torch.eye(2, dtype=torch.bool), 0.5).sum().backward()
    assert scores.grad.tolist() == [[0, 0], [0, 0]]


def looped_loss(kind, scores, positives, temperature):
    """InfoNCE in both directions, or SigLIP's loss, a pair at a time in float64; other true pairs are left out."""
    count, total = len(scores), 0.0
    for i in range(count):
        if kind == "softmax":
            for line in (scores[i], scores[:, i]):
                kept = [j for j in range(count) if j == i or not positives[i, j]]
                total += math.log(sum(math.exp((line[j] - line[i]).item() / temperature) for j in kept))
        else:
            for j in range(count):
                sign = 1 if i == j else -1
                if i == j or not positives[i, j]:
                    total += math.log1p(math.exp(-sign * (scores[i, j].item() / temperature - 10)))
    return total


LEARNED = ["softmax", "sigmoid"]


def ranking(kind, temperature=0.2, **changed):
    named = SimpleNamespace(negatives=kind, margin=0.3, **changed)
    loss = RankingLoss(kind, temperature).double()
    return lambda scores, positives: loss(scores, positives, named), loss


@pytest.mark.parametrize("kind", LEARNED)
def test_losses_that_learn_a_temperature_are_those_of_their_equations(scores, positives, kind):
    of, loss = ranking(kind)
    loss.log_scale.data = torch.tensor(-math.log(0.2), dtype=torch.double)
    assert of(scores, positives).item() == pytest.approx(looped_loss(kind, scores, positives, 0.2), rel=1e-12)


@pytest.mark.parametrize("kind", LEARNED)
def test_gradients_of_losses_that_learn(scores, positives, kind):
    of, loss = ranking(kind)
    weights = [scores.clone().requires_grad_(), *loss.parameters()]
    assert torch.autograd.gradcheck(lambda s, *_: of(s, positives), weights)


@pytest.mark.parametrize("kind", LEARNED)
def test_other_true_pairs_are_in_no_term_of_losses_that_learn(scores, positives, kind):
    of, _ = ranking(kind)
    before, changed = of(scores, positives), scores.clone()
    changed[1, 3] = changed[5, 1] = 100.0
    assert of(changed, positives) == before
    changed[1, 0] = 1.0
    assert of(changed, positives) > before


def test_the_scale_is_100_at_most_and_is_learned_there_too(scores, positives):
    (hottest, _), (held, loss) = ranking("softmax", 0.01), ranking("softmax", 0.0001)
    assert held(scores, positives).item() == pytest.approx(hottest(scores, positives).item(), rel=1e-5)
    held(scores, positives).backward()
    assert loss.log_scale.grad.item() != 0
    assert loss.log_scale.item() == pytest.approx(math.log(100))


def test_hinges_learn_nothing_and_are_those_of_the_functions(scores, positives):
    for kind, function in (("sum", sum_of_hinges), ("hardest", hardest_hinges)):
        of, loss = ranking(kind)
        assert not [*loss.parameters()]
        assert of(scores, positives) == function(scores, positives, 0.3)


@pytest.mark.parametrize(("kind", "of_phase"), [("sum", "softmax"), ("hardest", "sigmoid"), ("softmax", "sigmoid")])
def test_a_loss_that_learns_is_refused_in_a_phase_alone(scores, positives, kind, of_phase):
    with pytest.raises(ValueError, match=f"negatives: {of_phase} learns a temperature; set it in `parameters`"):
        RankingLoss(kind, 0.1)(scores, positives, SimpleNamespace(negatives=of_phase, margin=0.1))


def looped_pooling(pooling, vectors):
    """VSE-infinity's equations for one image, in float64 and a place at a time, with the GRU's equations in full."""
    count, weights = len(vectors), pooling.gru.state_dict()

    def states(places, suffix):
        state, found = torch.zeros(32, dtype=torch.double), {}
        for place in places:
            code = [function(place / 10_000 ** (2 * k / 32)) for k in range(16) for function in (math.sin, math.cos)]
            gates = weights[f"weight_ih_l0{suffix}"] @ torch.tensor(code, dtype=torch.double)
            gates = (gates + weights[f"bias_ih_l0{suffix}"]).chunk(3)
            before = (weights[f"weight_hh_l0{suffix}"] @ state + weights[f"bias_hh_l0{suffix}"]).chunk(3)
            reset, update = ((gates[k] + before[k]).sigmoid() for k in (0, 1))
            state = (1 - update) * (gates[2] + reset * before[2]).tanh() + update * state
            found[place] = state
        return found

    forwards, backwards = states(range(count), ""), states(reversed(range(count)), "_reverse")
    logits = [pooling.logit.weight[0].detach() @ ((forwards[k] + backwards[k]) / 2) / 0.1 for k in range(count)]
    shares = [math.exp(one) / sum(math.exp(other) for other in logits) for one in logits]
    return [sum(s * v for s, v in zip(shares, sorted(column.tolist())[::-1], strict=True)) for column in vectors.T]


def test_generalised_pooling_is_that_of_the_equations():
    torch.manual_seed(1)
    pooling, vectors = GeneralisedPooling().double(), torch.randn(4, 6, 5, dtype=torch.double)
    counts = torch.tensor([6, 1, 3, 3])
    present = torch.arange(6) < counts[:, None]
    found = pooling(vectors, present)
    for row, of_image, count in zip(found, vectors, counts, strict=True):
        assert row.tolist() == pytest.approx(looped_pooling(pooling, of_image[:count]), rel=1e-12)
    assert torch.equal(found, pooling(vectors.masked_fill(~present[:, :, None], 7.0), present))
    assert torch.autograd.gradcheck(lambda v: pooling(v, present), vectors.clone().requires_grad_())
