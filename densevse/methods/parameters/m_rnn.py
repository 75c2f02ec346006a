"""Declares the parameters of config/methods/m_rnn.yaml."""

from typing import ClassVar

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product
from densevse.config.values import Length
from densevse.methods.parameters.nic import LikelihoodParameters


class Parameters(LikelihoodParameters):
    """The parameters of m-RNN (Mao et al., ICLR 2015): the paper's values, or ours where it is silent."""

    ORIGINS: ClassVar = {
        **LikelihoodParameters.ORIGINS,
        "embedding": "paper, Figure 2",
        "word_dimension": "paper, Figure 2",
        "multimodal": "paper, Figure 2",
    }

    embedding: Length = Field(128, description="of the first word embedding layer")
    word_dimension: Length = Field(256, description="of w(t), from the second layer, and of r(t)")
    multimodal: Length = Field(512, description="of m(t)")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """A recurrent network over words, and the prediction of each word of a pair."""
        size = self.word_dimension
        word = product(self.embedding + size + 2 * self.multimodal, size)
        pair = sizes.words * product(self.multimodal, sizes.known)
        return self.likelihood_cost(product(sizes.image_length, self.multimodal), sizes.words * word, pair)
