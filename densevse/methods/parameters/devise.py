"""Declares the parameters of config/methods/devise.yaml."""

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product
from densevse.methods.parameters.defrag import GlobalRankingParameters


class Parameters(GlobalRankingParameters):
    """The parameters of DeViSE. The values are ours, as DeFrag's section 4.1 names none."""

    threshold: float = Field(0.0, description="the least score of a detection whose vector counts (section 4.1)")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """A linear map of the image's vector to the mean of word vectors."""
        size = sizes.word_length(self.word_vectors, self.word_dimension)
        return MethodCost(product(sizes.image_length, size), sizes.words * size, 2 * size, operators=200)
