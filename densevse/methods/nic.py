"""NIC: the neural image caption generator (Vinyals, Toshev, Bengio, Erhan, CVPR 2015), as a ranker.

An LSTM reads the image once, as its first input, and then the words S_0 to S_(N-1), of which S_0 marks the start:

    x_(-1) = CNN(I)                                                                              (10)
    x_t = W_e S_t                                                                                (11)
    p_(t+1) = LSTM(x_t)                                                                          (12)
    L(I, S) = - sum_(t=1..N) log p_t(S_t)                                                        (13)

The LSTM and its predictions are those of densevse/methods/decoder.py, so W_e serves inputs and predictions. As chosen
here: CNN(I) is a linear map of a fixed network's vector, scaled to mean 0 and variance 1. Its values would otherwise be
so small that the LSTM would hardly read the image. How pairs are ranked: densevse/methods/likelihood.py.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.recurrent import prefixes
from densevse.methods.decoder import Decoder
from densevse.methods.interface import Sentences, Shapes
from densevse.methods.likelihood import LikelihoodRanking, target_words
from densevse.methods.moving import to_device
from densevse.methods.parameters.nic import Parameters
from densevse.methods.parts import word_vectors


class SentencesOfWords(NamedTuple):
    """The words of sentences. The LSTM reads them again for each image."""

    words: Tensor  # (S, longest) padded with 0
    marginal: Tensor  # (S,) log p(s)


class NIC(LikelihoodRanking):
    """The neural image caption generator. Images are encoded as x_(-1)."""

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` unless one view of whole images is read."""
        super().__init__(parameters, shapes)
        self.image = nn.Linear(self.image_size, parameters.word_dimension)
        words = word_vectors("learned", parameters.word_dimension, shapes)
        self.decoder = Decoder(words, parameters.dimension)

    def read_images(self, vectors: Tensor) -> Tensor:
        """(I, word_dimension) x_(-1) of Eq 10."""
        return self.image(vectors)  # type: ignore[no-any-return]

    def read_sentences(self, sentences: Sentences) -> SentencesOfWords:
        """The words of sentences."""
        words = sentences["words"].index
        return SentencesOfWords(words, self.image.weight.new_zeros(len(words)))

    def log_likelihood(self, images: Tensor, image: Tensor, sentences: SentencesOfWords) -> Tensor:
        """(P,) - L of Eq 13, of sentences given the images of their numbers.

        An image and the start are read as two more words, numbered after those of the vocabulary. So the LSTM reads
        what sentences of an image have in common once.
        """
        weights = self.decoder.words.weight
        start = torch.full_like(image, len(weights))
        read = torch.column_stack((start + 1 + image, start, sentences.words))
        tree = to_device(prefixes(read.cpu().numpy(), images.device), images.device)
        vectors = torch.cat((weights, self.decoder.start.unsqueeze(0), images))
        states = self.decoder.recurrent.states(functional.embedding(tree.distinct, vectors), tree)
        log_p = self.decoder.logits(states).log_softmax(dim=1)
        target, present = target_words(sentences.words)
        return (log_p[tree.ends[:, 1:], target] * present).sum(dim=1)


METHOD = NIC
