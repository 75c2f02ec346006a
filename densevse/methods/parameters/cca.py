"""Declares the parameters of config/methods/cca.yaml."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product
from snakeproof.strict import Strict


class Parameters(Strict):
    """The parameters of CCA on mean word vectors. It is not tuned."""

    ORIGINS: ClassVar = {"*": "ours", "power": "paper of Gong et al."}
    FITTED: ClassVar = True
    OF_LOSS: ClassVar[frozenset[str]] = frozenset()
    """The method has a closed form, so its rounds need no phases."""

    sentence: Literal["word_vectors", "word_shares"] = Field(
        default="word_vectors",
        description="y: the mean of pre-trained word vectors, or the share of each word, where there are none",
    )
    power: float = Field(default=4.0, ge=0, description="p, of the canonical correlations that weigh the dimensions")
    ridge: float = Field(
        default=0.01, gt=0, le=1, description="the share of the mean variance that is added to each covariance"
    )

    def cost(self, sizes: InputSizes) -> MethodCost:
        """Two linear maps; the covariances of the closed form are left out."""
        image, mean = sizes.image_length, sizes.word_length(self.sentence, sizes.known)
        size = min(image, mean)
        return MethodCost(product(image, size), product(mean, size), 2 * size, operators=100)
