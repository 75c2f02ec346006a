"""Ranking by the likelihood of a sentence given an image, as NIC and m-RNN share it."""

import pytest
import torch
from torch.nn import functional

from densevse.methods.interface import Shapes
from densevse.models.files import build_method
from snakeproof.errors import InputError
from tests.likelihoods import INDEX, SHAPES, TEST, TRAINING, images, scores, sentences, small

SIZES = {
    "nic": {"dimension": 5, "word_dimension": 4},
    "m_rnn": {"embedding": 3, "word_dimension": 4, "multimodal": 5},
}
METHODS = pytest.mark.parametrize("name", SIZES)


def log_p(method, of):
    """(I, S) log p of each pair alone."""
    read = method.read_sentences(sentences())
    vectors = method.encode_images(of).vectors
    rows = torch.arange(len(INDEX))
    return torch.stack([method.log_likelihood(one.unsqueeze(0), torch.zeros_like(rows), read) for one in vectors])


@METHODS
def test_the_likelihood_of_a_sentence_is_the_mean_over_training_images(name):
    method = small(name, **SIZES[name])
    found = method.encode_sentences(sentences()).marginal
    torch.testing.assert_close(found, log_p(method, TRAINING).exp().mean(dim=0).log())


@METHODS
def test_a_sentence_ranks_images_by_log_p_and_an_image_does_not_rank_sentences_so(name):
    method = small(name, **SIZES[name])
    assert scores(method).argsort(dim=0).equal(log_p(method, TEST).argsort(dim=0))
    assert not scores(method).argsort(dim=1).equal(log_p(method, TEST).argsort(dim=1))


@METHODS
def test_padding_changes_no_score(name):
    method = small(name, **SIZES[name])
    torch.testing.assert_close(scores(method, index=functional.pad(INDEX, (0, 3))), scores(method))


@METHODS
def test_the_training_images_are_a_part_of_the_model(name):
    method = small(name, **SIZES[name])
    loaded = build_method(name, {"marginal_images": 3, **SIZES[name]}, SHAPES).double()
    loaded.load_state_dict(method.state_dict())
    assert scores(loaded).equal(scores(method))


def test_kept_images_are_spread_over_those_that_are_given():
    method = small("nic", **SIZES["nic"])
    method.measure(images(5, 3))
    assert method.marginal_images.equal(images(5, 3).views["whole"][[0, 2, 4]])
    method.measure(images(2, 3))
    assert method.marginal_images.equal(images(2, 3).views["whole"][[0, 0, 1]])


@METHODS
@pytest.mark.parametrize("views", [{"regions": 6}, {"whole": 6, "ten_crop": 6}])
def test_other_views_are_refused(name, views):
    with pytest.raises(InputError, match="reads one of whole, centre, ten_crop"):
        build_method(name, {}, Shapes(views, 9))
