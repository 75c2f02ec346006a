"""Declares the parameters of config/methods/nic.yaml.

All methods that rank by the likelihood of a sentence share `LikelihoodParameters`.
"""

from typing import ClassVar

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, decoder_step, product, recurrent_step
from densevse.config.values import Length
from snakeproof.strict import Strict


class LikelihoodParameters(Strict):
    """The parameters of ranking by log p(s | i) - log p(s)."""

    ORIGINS: ClassVar = {"*": "chosen"}
    OF_LOSS: ClassVar[frozenset[str]] = frozenset()

    marginal_images: Length = Field(50, description="N, the training images that p(s) is a mean over")
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout of the image's vector")

    def likelihood_cost(self, image: float, sentence: float, pair: float) -> MethodCost:
        """Training computes the pairs that belong together alone, and ranking each sentence with N images too."""
        ranked = self.marginal_images * pair
        return MethodCost(image, sentence, pair, trained_sentence=pair, ranked_sentence=ranked, passes=0)


class Parameters(LikelihoodParameters):
    """The parameters of NIC (Vinyals et al., CVPR 2015): the paper's values, or ours where it is silent."""

    ORIGINS: ClassVar = {
        **LikelihoodParameters.ORIGINS,
        "dimension": "paper, 4.3.1",
        "word_dimension": "paper, 4.3.1",
    }

    dimension: Length = Field(512, description="of the LSTM's state")
    word_dimension: Length = Field(512, description="of a word vector, and of the image's")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """An LSTM over the image and the words of each pair, which predicts each word."""
        pair = sizes.words * decoder_step(self.word_dimension, self.dimension, sizes.known)
        pair += recurrent_step("lstm", self.word_dimension, self.dimension)
        return self.likelihood_cost(product(sizes.image_length, self.word_dimension), 0, pair)
