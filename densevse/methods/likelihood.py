"""Ranks images and sentences by the likelihood of a sentence given an image (NIC, m-RNN).

    S(i, s) = log p(s | i) - log p(s),    p(s) = 1/N sum_n p(s | i_n)

over N training images i_n, which the model keeps (Mao et al., ICLR 2015, section 5). Without p(s), every image would
rank first the sentences that are likely in themselves: short ones of frequent words. For a sentence log p(s) is a
constant, which changes no rank of images.

Training lowers - log p of matched pairs and knows no negatives.
"""

from abc import abstractmethod
from math import log
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.methods.interface import (
    Batch,
    Embeddings,
    Encoding,
    Images,
    Method,
    Moment,
    Sentences,
    Shapes,
    replace_parts,
)
from densevse.methods.parameters.nic import LikelihoodParameters
from densevse.methods.parts import whole_view


class LikelihoodRanking(Method):
    """A model of log p(s | i) for an image as one vector.

    The named tuple of sentences has the parts `words` (S, longest), padded with 0, and `marginal` (S,), which is log
    p(s); a method may add others.
    """

    images_as = Embeddings
    # A score holds the log probabilities of all words of the vocabulary, for each word of its sentence.
    tile = (1, 512)

    hyperparameters: LikelihoodParameters
    marginal_images: Tensor

    def __init__(self, parameters: LikelihoodParameters, shapes: Shapes) -> None:
        """Raises `ValueError` unless one view of whole images is read."""
        super().__init__(parameters, shapes)
        self.view, self.image_size = whole_view(type(self).__name__, shapes)
        self.register_buffer("marginal_images", torch.zeros(parameters.marginal_images, self.image_size))
        self.dropout = nn.Dropout(parameters.dropout)

    @abstractmethod
    def read_images(self, vectors: Tensor) -> Tensor:
        """(I, D) vectors of a CNN, scaled to mean 0 and variance 1, to (I, dimension), as log p reads an image."""

    @abstractmethod
    def read_sentences(self, sentences: Sentences) -> Any:
        """Encodes sentences as `log_likelihood` reads them; their `marginal` is 0."""

    @abstractmethod
    def log_likelihood(self, images: Tensor, image: Tensor, sentences: Any) -> Tensor:
        """(P,) log p of P sentences and their ends, each given the image (I, dimension) of its number in (P,)."""

    def measure(self, images: Images) -> None:
        """Keeps evenly spaced ones of the images; if they are fewer, some more than once."""
        vectors = images.views[self.view]
        rows = torch.linspace(0, len(vectors) - 1, len(self.marginal_images)).round().long()
        self.marginal_images.copy_(vectors[rows])

    def encode_images(self, images: Images) -> Embeddings:
        """(I, dimension) images as log p reads them."""
        return Embeddings(self._read(images.views[self.view]))

    def encode_sentences(self, sentences: Sentences) -> Any:
        """Encodes sentences as `log_likelihood` reads them, with log p(s) as their `marginal`."""
        read = self.read_sentences(sentences)
        images = self._read(self.marginal_images).split(self.tile[0])
        of_pairs = torch.cat([self._pair_likelihoods(some, read) for some in images])
        return read._replace(marginal=of_pairs.logsumexp(dim=0) - log(len(of_pairs)))

    def encode_batch(self, batch: Batch) -> tuple[Encoding, Encoding]:
        """The encodings of the batch without log p(s), which training does not need."""
        return self.encode_images(batch.images), self.read_sentences(batch.sentences)

    def score(self, images: Embeddings, sentences: Any) -> Tensor:
        """(I, S) log p(s | i) - log p(s)."""
        return self._pair_likelihoods(images.vectors, sentences).sub(sentences.marginal)

    def loss(self, images: Embeddings, sentences: Any, batch: Batch, moment: Moment) -> Tensor:
        """The mean of - log p(s | i) over the matched pairs: a scalar."""
        matched = torch.arange(len(images.vectors), device=images.vectors.device)
        return -self.log_likelihood(images.vectors, matched, sentences).mean()

    def _read(self, vectors: Tensor) -> Tensor:
        return self.read_images(self.dropout(functional.layer_norm(vectors, vectors.shape[1:])))

    def _pair_likelihoods(self, images: Tensor, sentences: Any) -> Tensor:
        """(I, S) log p(s | i)."""
        shape = len(images), len(sentences.words)
        image = torch.arange(shape[0], device=images.device).repeat_interleave(shape[1])
        repeated = replace_parts(sentences, (part.repeat(shape[0], *(1,) * (part.dim() - 1)) for part in sentences))
        return self.log_likelihood(images, image, repeated).view(shape)


def target_words(words: Tensor) -> tuple[Tensor, Tensor]:
    """(S, longest + 1) the words (S, longest) of each sentence and its end, 0; and a bool mask of those that exist."""
    steps = torch.arange(words.shape[1] + 1, device=words.device)
    return functional.pad(words, (0, 1)), steps <= (words != 0).sum(dim=1, keepdim=True)
