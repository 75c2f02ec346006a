"""Declares the parameters of config/methods/vse.yaml. The poster names no values: defaults are the authors' code's."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from densevse.config.costs import InputSizes, MethodCost, product, recurrent_step
from densevse.config.values import Length
from snakeproof.strict import Strict

Encoder = Literal["lstm", "gru", "bag_of_words", "linear"]
Negatives = Literal["sum", "hardest", "softmax", "sigmoid"]
NEGATIVES = (
    "what the loss takes of a batch's contrastive pairs: the sum of their hinges, or the hardest hinge of each pair; "
    "or, without a margin, the softmax over all of them (InfoNCE), or a sigmoid of each (SigLIP's loss)"
)
Temperature = Annotated[
    float,
    Field(ge=0.01, description="of softmax and sigmoid: the first one, as it is learned; CLIP has .07, and SigLIP .1"),
]
"""The parameters of `RankingLoss` (densevse/methods/parts.py), which other methods share."""
OF_RANKING_LOSS = frozenset({"negatives", "margin"})
"""Those that it reads at each step; its temperature is where learning begins."""


class Parameters(Strict):
    """The parameters of VSE, VSE++ and order embeddings."""

    ORIGINS: ClassVar = {"*": "public code"}
    ADDED: ClassVar = frozenset({"pooling", "temperature"})
    OF_LOSS: ClassVar = OF_RANKING_LOSS

    RENAMED: ClassVar = {"loss": "negatives"}

    dimension: Length = Field(default=1024, description="dimension of the joint space")
    word_dimension: Length = Field(
        default=300, description="length of a word vector; pre-trained vectors have their own"
    )
    word_vectors: Literal["learned", "fixed", "tuned"] = Field(
        default="learned", description="learned from nothing; or pre-trained ones, fixed or tuned further"
    )
    encoder: Encoder = Field(
        default="lstm", description="encoder of sentences; linear is the sum of word vectors (vector arithmetic)"
    )
    branches: Literal["plain", "normalised"] = Field(
        default="plain",
        description="the CNN's vector is mapped linearly; or both sides are, with batch normalisation, as HM-LSTM's",
    )
    negatives: Negatives = Field(default="sum", description=NEGATIVES)
    pooling: Literal["mean", "generalised"] = Field(
        default="mean",
        description="of regions: their mean vector, which stands beside the whole image's; or, where they are the only "
        "view, the generalised pooling of their vectors in the space (VSE-infinity)",
    )
    similarity: Literal["cosine", "order"] = Field(
        default="cosine", description="order: minus the order-violation penalty"
    )
    margin: float = Field(
        default=0.2, ge=0, description="the margin by which matching pairs must score higher than contrastive ones"
    )
    temperature: Temperature = 0.07
    dropout: float = Field(default=0.0, ge=0, lt=1, description="dropout of word vectors and of the CNN's vector")

    @model_validator(mode="after")
    def _pools_plain_vectors(self) -> Self:
        if self.pooling == "generalised" and self.branches == "normalised":
            raise ValueError("pooling: generalised pools vectors without batch normalisation; set branches to plain")
        return self

    def cost(self, sizes: InputSizes) -> MethodCost:
        """A linear map of the image's vectors in a row, and the sentence's encoder."""
        word = sizes.word_length(self.word_vectors, self.word_dimension)
        if self.encoder in ("lstm", "gru"):
            sentence = sizes.words * recurrent_step(self.encoder, word, self.dimension)
        else:
            sentence = product(word, self.dimension) if self.encoder == "bag_of_words" else 0
        image = (sizes.regions if self.pooling == "generalised" else 1) * product(sizes.image_length, self.dimension)
        return MethodCost(image, sentence, 2 * self.dimension)
