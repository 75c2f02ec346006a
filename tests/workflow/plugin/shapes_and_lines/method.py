"""An image and the mean of its sentence's words, in one space."""

from torch import nn
from torch.nn import functional

from densevse.methods.interface import DualEncoder, Embeddings
from densevse.methods.parts import sum_of_hinges

from .units import FACTOR


class MeanOfWords(DualEncoder):
    def __init__(self, parameters, shapes):
        super().__init__(parameters, shapes)
        self.image = nn.Linear(shapes.features["whole"], parameters.dimension)
        self.words = nn.EmbeddingBag(shapes.words, parameters.dimension, padding_idx=0)

    def encode_images(self, images):
        return Embeddings(functional.normalize(FACTOR * self.image(images.views["whole"])))

    def encode_sentences(self, sentences):
        return Embeddings(functional.normalize(self.words(sentences["words"].index)))

    def loss(self, images, sentences, batch, moment):
        return sum_of_hinges(self.score(images, sentences), batch.positives, moment.parameters.margin)


METHOD = MeanOfWords
