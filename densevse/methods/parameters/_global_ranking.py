"""Declares the parameters of DeFrag's global ranking objective (Eq 7), for all methods that it trains."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.strict import Strict


class GlobalRankingParameters(Strict):
    """The parameters of Eq 7. The paper chooses values by cross-validation (sections 3.3 and 4.1) and names none."""

    ORIGINS: ClassVar = {"*": "chosen", "word_vectors": "paper, 3.4"}

    margin: float = Field(0.1, gt=0, description="Delta of Eq 7")
    terms: Literal["mean", "sum"] = Field(
        "mean",
        description="how an objective combines its terms: their sum as printed, or the mean of each kind",
    )
    feature_norm: float | None = Field(
        None,
        gt=0,
        description="the mean norm to which the CNN's vectors are scaled, by one factor that is measured on training "
        "images and kept in the model; none: they are read as they are",
    )
    word_vectors: Literal["learned", "fixed", "tuned"] = Field(
        "fixed", description="pre-trained and fixed (section 3.4), tuned further, or learned from nothing"
    )
    word_dimension: int = Field(200, gt=0, description="d of Eq 1, where word vectors are learned from nothing")
