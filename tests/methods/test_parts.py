import pytest
import torch

from densevse.methods.parts import hardest_hinges, hinge, hinges, sum_of_hinges


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
