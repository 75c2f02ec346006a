"""Declares the parameters of the language models in config/generators."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.values import Length
from snakeproof.strict import Strict


class Parameters(Strict):
    """Values near those of the authors' multimodal log-bilinear models, as the poster names none."""

    ORIGINS: ClassVar = {"*": "chosen"}
    OF_LOSS: ClassVar[frozenset[str]] = frozenset()

    attributes: Literal["none", "content", "structure_and_content"] = Field(
        "structure_and_content",
        description="what modulates the prediction: nothing (LBL), the embedding (MLBL), or tags too (SC-NLM)",
    )
    word_context: Length = Field(5, description="n - 1, how many words before the predicted one are read")
    tag_context: Length = Field(3, description="k + 1, how many tags from the predicted word's own on are read")
    standardised_content: bool = Field(
        False, description="v is scaled to mean 0 and variance 1 over its values; those of a unit vector are small"
    )
    dimension: Length = Field(256, description="K, of a word's vector and of r")
    factors: Length = Field(512, description="F, where words and attributes meet")
    attribute_dimension: Length = Field(256, description="D, of the attribute vector u")
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout of r and of u")
