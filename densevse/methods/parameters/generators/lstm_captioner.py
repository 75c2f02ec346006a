"""Declares the parameters of config/generators/lstm_captioner.yaml."""

from typing import ClassVar

from pydantic import Field

from densevse.config.values import Length
from snakeproof.strict import Strict


class Parameters(Strict):
    """Values as of SCO's decoder (section 4.2), which names this captioner (NIC) but not its sizes; NIC's is 512."""

    ORIGINS: ClassVar = {"*": "chosen"}
    OF_LOSS: ClassVar[frozenset[str]] = frozenset()

    dimension: Length = Field(512, description="dimension of the LSTM's state")
    word_dimension: Length = Field(300, description="length of a word vector")
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout of the image's vector")
