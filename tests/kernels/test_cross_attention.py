"""Stacked cross attention of all pairs, against a loop over pairs, queries and contexts."""

import pytest
import torch
from torch.nn import functional

from densevse.kernels import cross_attention
from densevse.kernels.cross_attention import AttentionSide, CrossAttention, cross_attention_scores, weights_of_pairs
from tests.gradients import assert_same
from tests.kernels import definitions

NORMS = ["clipped_l2norm", "l2norm", "clipped_l1norm", "l1norm", "clipped", "softmax", "no_norm"]


def side(counts, seed, gaps=False):
    """Fragments of as many as `counts` says; with gaps the first places are empty, as those of whole images are."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(len(counts), max(counts) + gaps, 4, dtype=torch.double, generator=generator)
    place = torch.arange(max(counts) + gaps)
    present = (place >= gaps) & (place < torch.tensor(counts)[:, None] + gaps)
    vectors = functional.normalize(vectors, dim=2) * present.unsqueeze(2)
    return AttentionSide(vectors.requires_grad_(), present)


def attention(direction="t2i", norm="clipped_l2norm", pooling="lse", slope=0.1):
    return CrossAttention(direction, norm, slope, 9.0, pooling, 6.0)


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
@pytest.mark.parametrize("pooling", ["lse", "avg"])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("few", [0.0, 1.0])
def test_scores_and_gradients_are_those_of_the_definition(monkeypatch, direction, pooling, norm, few):
    for name, number in (("SIMILARITIES_AT_ONCE", 8), ("IMAGES_OF_BLOCK", 2), ("PAIRS_AT_ONCE", 5), ("FEW_PAIRS", few)):
        monkeypatch.setattr(cross_attention, name, number)
    images, sentences = side([3, 1, 4], 0, gaps=True), side([2, 3, 1, 2], 1)
    chosen = attention(direction, norm, pooling)
    found = cross_attention_scores(images, sentences, chosen)
    expected = definitions.cross_attention_scores(images, sentences, chosen)
    assert_same(found, expected, [images.vectors, sentences.vectors])


def test_similarities_that_are_all_below_a_hard_threshold_have_finite_gradients():
    """With a slope of 0 they become zeros, whose norm is no division by 0."""
    images, sentences = side([2], 0), side([2], 1)
    images = AttentionSide((-sentences.vectors.detach()).requires_grad_(), images.present)
    for direction in ("t2i", "i2t"):
        cross_attention_scores(images, sentences, attention(direction, slope=0.0)).sum().backward()
        assert images.vectors.grad.isfinite().all()


def test_the_gradient_compares_again_only_the_pairs_that_a_loss_depends_on(monkeypatch):
    images, sentences = side([3, 2], 0), side([2, 3, 1], 1)
    compared, again = [], cross_attention._pair_scores
    monkeypatch.setattr(cross_attention, "_pair_scores", lambda *sides: compared.append(sides[0]) or again(*sides))
    monkeypatch.setattr(cross_attention, "FEW_PAIRS", 0.2)
    cross_attention_scores(images, sentences, attention())[0, 1].backward()
    assert [len(queries.vectors) for queries in compared] == [1]
    assert (images.vectors.grad[1] == 0).all()


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
def test_weights_of_pairs_are_those_that_scores_come_from(direction):
    images, sentences = side([3, 1], 0), side([2, 4], 1)
    weights = weights_of_pairs(images, sentences, attention(direction)).detach()
    queries, contexts = (images, sentences) if direction == "i2t" else (sentences, images)
    assert weights.shape == (2, queries.present.shape[1], contexts.present.shape[1])
    torch.testing.assert_close(weights.sum(dim=2), queries.present.double())
    assert (weights.masked_select(~contexts.present.unsqueeze(1)) == 0).all()
    cosines = functional.cosine_similarity(weights @ contexts.vectors, queries.vectors, dim=2).detach()
    of_all = cross_attention_scores(images, sentences, attention(direction)).detach()
    for pair, present in enumerate(queries.present):
        torch.testing.assert_close(of_all[pair, pair], cosines[pair][present].mul(6).logsumexp(0) / 6)
