"""The declarations of this package. They import no large library and no implementation."""

from typing import ClassVar

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product
from densevse.config.readers import ReaderOptions
from densevse.config.registries import Architecture
from snakeproof.strict import Strict


class MeanOfWords(Strict):
    """The parameters of a method: an image and the mean of its sentence's words, in one space."""

    IMPLEMENTATION: ClassVar = "shapes_and_lines.method"

    dimension: int = Field(default=16, gt=0, description="of the joint space")
    margin: float = Field(default=0.2, ge=0, description="by which matching pairs must score higher")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """A linear map of the image's vector."""
        return MethodCost(product(sizes.features["whole"], self.dimension), 0, 2 * self.dimension, operators=100)


class Lines(ReaderOptions):
    """Lines of a split, a file and a sentence."""

    IMPLEMENTATION = "shapes_and_lines.reader"
    SOURCES = frozenset({"images", "text"})
    SENTENCES = "text"

    separator: str = Field(min_length=1, description="what stands between them")


TINY = Architecture({"pooled": "pool"}, "shapes_and_lines.network")
