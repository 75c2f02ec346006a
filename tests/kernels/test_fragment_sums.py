"""The sums over all fragments of all pairs, against a loop over fragments."""

import numpy as np
import pytest
import torch

from densevse.kernels import fragment_sums
from tests.gradients import assert_same
from tests.kernels import definitions


def fragments(counts, seed):
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(len(counts), max(counts), 3, dtype=torch.double, generator=generator, requires_grad=True)
    return vectors, torch.arange(max(counts)) < torch.tensor(counts)[:, None]


@pytest.mark.parametrize("at_once", [1, 20, 1 << 20])
def test_sums_and_gradients_are_those_of_the_definition(monkeypatch, at_once):
    monkeypatch.setattr(fragment_sums, "SCORES_AT_ONCE", at_once)
    images, sentences = fragments([3, 1, 4], 0), fragments([2, 0, 3, 1], 1)
    found = fragment_sums.sums_of_all_pairs(*images, *sentences, truncated=True)
    assert_same(found, definitions.fragment_sums(*images, *sentences), [images[0], sentences[0]])
    assert (found[:, 1] == 0).all()


def test_sums_of_scores_that_are_known_already():
    images, sentences = fragments([3, 1, 4], 0), fragments([2, 0, 3, 1], 1)
    of_images, of_sentences = fragment_sums.masks_on_host(images[1], sentences[1])
    (v, image), (s, sentence) = (
        fragment_sums.existing_fragments(vectors, present)
        for vectors, present in ((images[0], of_images), (sentences[0], of_sentences))
    )
    found = fragment_sums.sums_of_scores(v @ s.T, of_images, image, sentence, 4, truncated=True)
    assert_same(found, definitions.fragment_sums(*images, *sentences), [images[0], sentences[0]])


@pytest.mark.parametrize("at_once", [1, 20, 1 << 20])
def test_sums_over_the_best_regions_and_gradients_are_those_of_the_definition(monkeypatch, at_once):
    monkeypatch.setattr(fragment_sums, "SCORES_AT_ONCE", at_once)
    images, sentences = fragments([3, 1, 4], 0), fragments([2, 0, 3, 1], 1)
    found = fragment_sums.sums_of_all_pairs(*images, *sentences, best_region=True)
    assert_same(found, definitions.best_region_sums(*images, *sentences), [images[0], sentences[0]])
    assert (found[:, 1] == 0).all()
    assert (found < 0).any()  # the best of negative scores is negative


def test_owners_of_lists():
    assert fragment_sums.owners(np.array([2, 0, 1])).tolist() == [0, 0, 2]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("relation", [[2, 0, 2, 1, 0], [3, 3, 3], []], ids=["several", "one", "none"])
@pytest.mark.parametrize("way", ["multiply_parts", "multiply_table"])
def test_linear_maps_by_relation_are_those_of_the_definition(way, bias, relation):
    torch.manual_seed(0)
    layer = fragment_sums.LinearByRelation(4, 3, 2, bias=bias).double()
    if bias:
        torch.nn.init.normal_(layer.bias)
    x = torch.randn(len(relation), 3, dtype=torch.double, requires_grad=True)
    relation = np.array(relation, np.int64)
    found = getattr(layer, way)(x, fragment_sums.ByRelation.from_relations(relation, 4))
    assert found.shape == (len(relation), 2)
    if len(relation):
        assert_same(found, definitions.linear_by_relation(layer, x, relation), [x, *layer.parameters()])
