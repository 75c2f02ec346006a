"""A method added by the steps of docs/methods.md: an image and the mean of its sentence's words, in one space."""

METHOD = """
from torch import nn
from torch.nn import functional

from densevse.methods.interface import DualEncoder, Embeddings
from densevse.methods.parts import sum_of_hinges


class Toy(DualEncoder):
    def __init__(self, parameters, shapes):
        super().__init__(parameters, shapes)
        self.image = nn.Linear(shapes.features["whole"], parameters.dimension)
        self.words = nn.EmbeddingBag(shapes.words, parameters.dimension, padding_idx=0)

    def encode_images(self, images):
        return Embeddings(functional.normalize(self.image(images.views["whole"])))

    def encode_sentences(self, sentences):
        return Embeddings(functional.normalize(self.words(sentences["words"].index)))

    def loss(self, images, sentences, batch, moment):
        return sum_of_hinges(self.score(images, sentences), batch.positives, moment.parameters.margin)


METHOD = Toy
"""

PARAMETERS = """
from pydantic import Field

from snakeproof.strict import Strict


class Parameters(Strict):
    dimension: int = Field(default=16, gt=0)
    margin: float = Field(default=0.2, ge=0)
"""

CONFIG = """
title: Toy
paper: vse
model: toy
views: [whole]
training: {batch_size: 32}
phases:
  main: {epochs: 2, learning_rate: 0.001}
"""

TOY = {
    "densevse/methods/toy.py": METHOD,
    "densevse/methods/parameters/toy.py": PARAMETERS,
    "config/methods/toy.yaml": CONFIG,
}
