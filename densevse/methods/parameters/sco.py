"""Declares the parameters of config/methods/sco.yaml."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, decoder_step, product, recurrent_step
from densevse.config.values import Length
from densevse.methods.parameters.vse import NEGATIVES, OF_RANKING_LOSS, Negatives, Temperature
from snakeproof.strict import Strict


class Parameters(Strict):
    """The parameters of SCO: the paper's values (section 4.2) or, where it is silent, ours."""

    ORIGINS: ClassVar = {"*": "paper, 4.2", "fusion": "paper, Eq 2", "dropout": "chosen"}
    ADDED: ClassVar = frozenset({"negatives", "temperature"})
    OF_LOSS: ClassVar = OF_RANKING_LOSS | {"sampled", "generation_weight"}

    dimension: Length = Field(1024, description="H, of the joint space and of both LSTMs")
    word_dimension: Length = Field(300, description="D, of a word vector")
    fusion: Literal["gate", "sum"] = Field(
        "gate", description="how concepts and context are joined where `views` holds both: Eq 2, or (C) of Table 1"
    )
    negatives: Negatives = Field("sum", description=f"{NEGATIVES}; the paper's L_mat is the sum")
    margin: float = Field(0.2, gt=0, description="m of L_mat")
    temperature: Temperature = 0.07
    generation_weight: float = Field(1.0, ge=0, description="lambda of Eq 4; with 0 nothing is generated")
    generated_words: int | None = Field(
        None,
        gt=1,
        description="the number of most frequent words that are generated; rarer ones become the unknown word",
    )
    sampled: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of words that scheduled sampling draws, Table 1's sampling; phases may raise it",
    )
    words: Literal["own", "shared"] = Field(
        "own", description="whether both LSTMs have word vectors of their own (Table 1's non-shared) or share them"
    )
    longest_sentence: Length = Field(50, description="J, words of a sentence that are read")
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout of the context vector and of word vectors; chosen")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """The gated fusion of two vectors, and two LSTMs, of which one predicts each word of the vocabulary."""
        lstm = sizes.words * recurrent_step("lstm", self.word_dimension, self.dimension)
        maps = 2 if self.fusion == "gate" and len(sizes.features) > 1 else 1
        image = lstm if "generated_captions" in sizes.features else maps * product(sizes.image_length, self.dimension)
        known = min(sizes.known, self.generated_words or sizes.known)
        written = sizes.words * decoder_step(self.word_dimension, self.dimension, known)
        written *= self.generation_weight > 0
        return MethodCost(image, lstm, 2 * self.dimension, trained_sentence=written, operators=1000)
