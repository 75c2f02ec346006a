"""Declares the parameters of config/methods/sdt_rnn.yaml."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product
from densevse.config.values import Length
from densevse.methods.parameters.defrag import GlobalRankingParameters


class Parameters(GlobalRankingParameters):
    """The parameters of SDT-RNN. The values are ours, as DeFrag's section 4.1 names none."""

    ORIGINS: ClassVar = {**GlobalRankingParameters.ORIGINS, "weights": "paper of SDT-RNN"}

    dimension: Length = Field(200, description="dimension of hidden states and of the joint space")
    weights: Literal["relation", "position"] = Field(
        "relation", description="what a child's weights depend on: SDT-RNN, or the DT-RNN of the same paper"
    )
    positions: Length = Field(
        4,
        description="positions on each side of a word that have weights of their own; the farthest shares",
    )
    threshold: float = Field(0.0, description="the least score of a detection whose vector counts (section 4.1)")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """A matrix for each word, and one for its relation to its head."""
        word = sizes.word_length(self.word_vectors, self.word_dimension)
        sentence = sizes.words * product(word + self.dimension, self.dimension)
        return MethodCost(product(sizes.image_length, self.dimension), sentence, 2 * self.dimension, operators=1000)
