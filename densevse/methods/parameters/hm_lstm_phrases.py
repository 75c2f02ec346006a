"""Declares the parameters of config/methods/hm_lstm_phrases.yaml: those of HM-LSTM, and the weight of phrases."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost
from densevse.methods.parameters import hm_lstm


class Parameters(hm_lstm.Parameters):
    """The parameters of HM-LSTM with phrases in its score (ours)."""

    ORIGINS: ClassVar = {**hm_lstm.Parameters.ORIGINS, "phrases_in_score": "chosen", "scored": "ours"}

    phrases_in_score: float = Field(
        default=1.0, ge=0, description="lambda: the weight of phrases and regions beside the whole sentence and image"
    )
    scored: Literal["phrases", "sentence"] = Field(
        default="phrases",
        description="whose best region counts: each noun phrase's, or the whole sentence's, a control without phrases",
    )

    def cost(self, sizes: InputSizes) -> MethodCost:
        """HM-LSTM's; ranking also encodes all regions, and each sentence again for its phrases, and joins both."""
        found, by_phrases = super().cost(sizes), self.scored == "phrases"
        pair = found.pair * (1 + sizes.regions * (sizes.phrases if by_phrases else 1))
        image, sentence = (sizes.regions - 1) * found.image, found.sentence * by_phrases
        return found._replace(pair=pair, ranked_image=image, ranked_sentence=sentence, passes=0)
