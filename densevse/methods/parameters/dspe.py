"""Declares the parameters of config/methods/dspe.yaml."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product
from densevse.config.values import Length
from snakeproof.strict import Strict


class Parameters(Strict):
    """The parameters of DSPE (Wang, Li, Lazebnik, CVPR 2016), with the defaults of the authors' code."""

    ORIGINS: ClassVar = {"*": "public code", "sentence": "ours"}
    OF_LOSS: ClassVar = frozenset({"margin", "largest", "lambda_1", "lambda_3"})

    sentence: Literal["word_vectors", "word_shares"] = Field(
        default="word_vectors",
        description="what a sentence is: the mean of pre-trained word vectors, or the share of each word, where there "
        "are none",
    )
    dimension: Length = Field(default=512, description="dimension of the joint space")
    hidden: Length = Field(default=2048, description="values of the layer between")
    dropout: float = Field(default=0.5, ge=0, lt=1, description="dropout of the layer between")
    margin: float = Field(default=0.05, ge=0, description="m, by which a matched distance must be smaller")
    largest: int = Field(default=10, gt=0, description="K, the largest terms of a sentence that count")
    lambda_1: float = Field(default=1.5, ge=0, description="weight of contrastive images")
    lambda_3: float = Field(default=0.05, ge=0, description="weight of the neighbourhood of sentences")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """Two layers on each side; sentences are compared with sentences too."""
        image = product(sizes.image_length + self.dimension, self.hidden)
        sentence = product(sizes.word_length(self.sentence, sizes.known) + self.dimension, self.hidden)
        return MethodCost(image, sentence, 4 * self.dimension, operators=300)
