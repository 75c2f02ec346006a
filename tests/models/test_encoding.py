from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from densevse.data.inputs import Inputs
from densevse.methods.interface import Embeddings, Method, Shapes
from densevse.models.encoding import encode_images, encode_sentences, join_encodings
from densevse.models.scoring import scorer


class Words(NamedTuple):
    index: torch.Tensor
    lengths: torch.Tensor


class WordByWord(Method):
    """Encodes a sentence as its words: encodings whose width differs from batch to batch."""

    def __init__(self):
        super().__init__(None, Shapes({"whole": 6}, 11))
        self.map = nn.Linear(6, 2)
        self.norm = nn.BatchNorm1d(2)
        self.modes = []

    def encode_images(self, images):
        self.modes.append((self.training, torch.is_grad_enabled()))
        return Embeddings(self.norm(self.map(images.views["whole"])))

    def encode_sentences(self, sentences):
        return Words(sentences["words"].index.float(), sentences["words"].lengths)

    def score(self, images, sentences):
        return images.vectors.sum(dim=1, keepdim=True) + sentences.index.sum(dim=1)

    def loss(self, images, sentences, batch, moment):
        raise AssertionError


def test_batches_join_in_order_and_the_mode_is_restored(files):
    pairs, method = Inputs(files, ["words"]).pairs("train"), WordByWord()
    images = encode_images(method, pairs, batch=5)
    assert images.vectors.shape == (12, 2)
    assert method.modes == [(False, False)] * 3
    assert method.training
    alone = method.eval().norm(method.map(pairs.images(np.array([7])).views["whole"]))
    torch.testing.assert_close(images.vectors[7:8], alone)
    encode_images(method, pairs)
    assert not method.training
    sentences = encode_sentences(method, pairs, batch=1)  # one item in each batch, as wide as its sentence
    whole = pairs.sentences(np.arange(len(sentences.lengths)))
    assert torch.equal(sentences.index, whole["words"].index.float())
    assert torch.equal(sentences.lengths, whole["words"].lengths)


def test_padding_goes_to_the_end():
    joined = join_encodings([Embeddings(torch.ones(1, 2, 3)), Embeddings(torch.ones(2, 1, 4))]).vectors
    assert joined.shape == (3, 2, 4)
    assert joined[0].sum() == 6
    assert joined[1, 0].tolist() == [1, 1, 1, 1]
    assert joined[1, 1].sum() == 0


def test_scorer_takes_rows_then_blocks(files):
    pairs, method = Inputs(files, ["words"]).pairs("train"), WordByWord().eval()
    images, sentences = encode_images(method, pairs), encode_sentences(method, pairs)
    every = method.score(images, sentences)
    rows, columns = np.array([1, 4, 6]), np.array([0, 2, 3, 9])
    block = scorer(method, images, sentences)(rows, columns)(slice(1, 3), slice(0, 2))
    torch.testing.assert_close(block, every[[4, 6]][:, [0, 2]])


class Products(WordByWord):
    """Scores by a matrix product, and records the shapes that it gets."""

    tile = (64, 128)

    def score(self, images, sentences):
        self.modes.append((images.vectors.shape, sentences.vectors.shape))
        return images.vectors @ sentences.vectors.T


@pytest.mark.parametrize("count", [501, 503])
def test_identical_items_tie_in_a_small_last_tile(count):
    """The last candidates are copies of the first; ranks take them for ties only if their scores are equal."""
    generator, method = torch.Generator().manual_seed(0), Products()
    images, sentences = (torch.randn(count, 300, generator=generator) for _ in range(2))
    images[-1], sentences[-1] = images[0], sentences[0]
    every = np.arange(count)
    block = scorer(method, Embeddings(images), Embeddings(sentences))(every, every)
    by_tile = [block(slice(i, min(i + 100, count)), slice(0, count)) for i in range(0, count, 100)]
    scores = torch.cat(by_tile)
    assert torch.equal(scores[0], scores[-1])
    assert torch.equal(scores[:, 0], scores[:, -1])
    torch.testing.assert_close(scores, images @ sentences.T, atol=1e-4, rtol=1e-5)
