import numpy as np
import torch
from torch import nn

from densevse.methods.interface import Method, Shapes
from densevse.training.data import Inputs
from densevse.training.encode import concatenated, encode_images, encode_sentences, scorer


class WordByWord(Method):
    """Encodes a sentence as its words: encodings whose width differs from batch to batch."""

    def __init__(self):
        super().__init__(None, Shapes({"whole": 6}, 11))
        self.map = nn.Linear(6, 2)
        self.norm = nn.BatchNorm1d(2)
        self.modes = []

    def encode_images(self, images):
        self.modes.append((self.training, torch.is_grad_enabled()))
        return (self.norm(self.map(images.views["whole"])),)

    def encode_sentences(self, sentences):
        return (sentences.words.float(), sentences.lengths)

    def score(self, images, sentences):
        return images[0].sum(dim=1, keepdim=True) + sentences[0].sum(dim=1)

    def loss(self, batch):
        raise AssertionError


def test_batches_join_in_order_and_the_mode_is_restored(files):
    pairs, method = Inputs(files).pairs("train"), WordByWord()
    images = encode_images(method, pairs, batch=5)
    assert images[0].shape == (12, 2)
    assert method.modes == [(False, False)] * 3
    assert method.training
    assert torch.equal(images[0][7:8], method.eval().norm(method.map(pairs.images(np.array([7])).views["whole"])))
    encode_images(method, pairs)
    assert not method.training
    words, lengths = encode_sentences(method, pairs, batch=1)  # one item a batch, each as wide as its sentence
    whole = pairs.sentences(np.arange(len(lengths)))
    assert torch.equal(words, whole.words.float())
    assert torch.equal(lengths, whole.lengths)


def test_padding_goes_to_the_end():
    joined = concatenated([(torch.ones(1, 2, 3),), (torch.ones(2, 1, 4),)])[0]
    assert joined.shape == (3, 2, 4)
    assert joined[0].sum() == 6
    assert joined[1, 0].tolist() == [1, 1, 1, 1]
    assert joined[1, 1].sum() == 0


def test_scorer_takes_rows_then_blocks(files):
    pairs, method = Inputs(files).pairs("train"), WordByWord().eval()
    images, sentences = encode_images(method, pairs), encode_sentences(method, pairs)
    every = method.score(images, sentences)
    rows, columns = np.array([1, 4, 6]), np.array([0, 2, 3, 9])
    block = scorer(method, images, sentences)(rows, columns)(slice(1, 3), slice(0, 2))
    assert torch.allclose(block, every[[4, 6]][:, [0, 2]])
