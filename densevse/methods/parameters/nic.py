"""Declares the parameters of config/methods/nic.yaml.

All methods that rank by the likelihood of a sentence share `LikelihoodParameters`.
"""

from typing import ClassVar

from pydantic import Field

from densevse.config.values import Length
from snakeproof.strict import Strict


class LikelihoodParameters(Strict):
    """The parameters of ranking by log p(s | i) - log p(s)."""

    ORIGINS: ClassVar = {"*": "chosen"}

    marginal_images: Length = Field(50, description="N, the training images that p(s) is a mean over")
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout of the image's vector")


class Parameters(LikelihoodParameters):
    """The parameters of NIC (Vinyals et al., CVPR 2015): the paper's values, or ours where it is silent."""

    ORIGINS: ClassVar = {
        **LikelihoodParameters.ORIGINS,
        "dimension": "paper, 4.3.1",
        "word_dimension": "paper, 4.3.1",
    }

    dimension: Length = Field(512, description="of the LSTM's state")
    word_dimension: Length = Field(512, description="of a word vector, and of the image's")
