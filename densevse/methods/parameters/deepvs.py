"""Declares the parameters of config/methods/deepvs.yaml."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product
from densevse.config.values import Length
from densevse.methods.parameters.defrag import GlobalRankingParameters


class Parameters(GlobalRankingParameters):
    """The parameters of DeepVS (Karpathy, Fei-Fei, CVPR 2015): the paper's values, or ours where it is silent."""

    ORIGINS: ClassVar = {
        "*": "chosen",
        "margin": "paper, Eq 9",
        "terms": "paper, Eq 9",
        "word_vectors": "paper, 3.1.2",
        "word_dimension": "paper, 3.1.2",
        "dimension": "paper, 3.1.1",
        "hidden": "paper, 3.1.2",
    }

    margin: float = Field(1.0, gt=0, description="by which the score of a true pair must be above others, Eq 9")
    terms: Literal["mean", "sum"] = Field(
        "sum", description="how Eq 9 combines its terms: their sum as printed, or their mean"
    )
    word_dimension: Length = Field(300, description="length of x_t, where word vectors are learned from nothing")
    dimension: Length = Field(1000, description="h, of the joint space (section 3.1.1: 1000 to 1600)")
    hidden: Length = Field(300, description="values of a state of the BRNN (section 3.1.2: 300 to 600)")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout of the CNN's vectors and of word vectors")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """A recurrent network over words in both directions, and all regions of an image with all words."""
        word = sizes.word_length(self.word_vectors, self.word_dimension)
        region = product(sizes.image_length, self.dimension)
        sentence = sizes.words * product(word + 2 * self.hidden + self.dimension, self.hidden)
        pair = sizes.regions * product(sizes.words, self.dimension)
        return MethodCost(sizes.regions * region, sentence, pair, operators=300)
