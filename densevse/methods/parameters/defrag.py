"""Declares the parameters of config/methods/defrag.yaml; its phases change `fragment_objective` and `beta`.

All methods that the global ranking objective (Eq 7) trains share its parameters.
"""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from densevse.config.costs import InputSizes, MethodCost, product
from densevse.config.values import Length
from densevse.methods.parameters.vse import NEGATIVES, OF_RANKING_LOSS, Negatives, Temperature
from snakeproof.strict import Strict


class GlobalRankingParameters(Strict):
    """The parameters of Eq 7. The paper chooses values by cross-validation (sections 3.3 and 4.1) and names none."""

    ORIGINS: ClassVar = {"*": "chosen", "word_vectors": "paper, 3.4"}
    ADDED: ClassVar = frozenset({"negatives", "temperature"})
    OF_LOSS: ClassVar = OF_RANKING_LOSS | {"terms"}

    negatives: Negatives = Field("sum", description=f"{NEGATIVES}; Eq 7 is the sum")
    margin: float = Field(0.1, gt=0, description="Delta of Eq 7")
    temperature: Temperature = 0.07
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
    word_dimension: Length = Field(200, description="d of Eq 1, where word vectors are learned from nothing")


class Parameters(GlobalRankingParameters):
    """The parameters of DeFrag: the paper's values, or ours where it is silent or used cross-validation."""

    ORIGINS: ClassVar = {
        **GlobalRankingParameters.ORIGINS,
        "dimension": "paper, 3.1",
        "fragments": "paper, 3.1",
        "fragment_objective": "paper, Eq 3",
        "trained_layers": "paper, 4.2",
        "smoothing": "paper, Eq 6",
        "score": "paper, Eq 6",
        "truncated": "paper, Eq 6",
    }
    ADDED: ClassVar = GlobalRankingParameters.ADDED | {"dropout", "unit_norm"}
    OF_LOSS: ClassVar = OF_RANKING_LOSS | {"terms", "fragment_objective", "beta", "smoothing", "score", "truncated"}

    dimension: Length = Field(1000, description="dimension of the embedding space (section 3.1: about 1000)")
    fragments: Literal["triplets", "words", "bigrams"] = Field(
        "triplets",
        description="fragments of sentences: typed dependencies, or every word (w1 = w2), or consecutive words "
        "(section 4.2)",
    )
    fragment_objective: Literal["none", "dense", "multiple_instance"] = Field(
        "dense", description="the fragment objective of Eq 3: no fragment objective, C_0 (Eq 4) or C_F (Eq 5)"
    )
    beta: float = Field(1.0, ge=0, description="weight of the global ranking objective C_G in Eq 3")
    trained_layers: list[str] = Field(
        default=[],
        description="of the view crops: the layers of the network that are trained, each with all that it holds, by "
        "the paths of their modules",
    )
    smoothing: float = Field(5.0, ge=0, description="n of Eq 6")
    score: Literal["sum", "best_region"] = Field(
        "sum",
        description="the score of an image and a sentence: the sum over all pairs of their fragments, Eq 6; or, ours, "
        "the sum over the sentence's fragments of their product with the best region",
    )
    truncated: bool | None = Field(
        None,
        description="whether a negative product of two fragments counts as 0 in the score; by default that of a sum "
        "does, as in Eq 6, and that of a best region does not",
    )
    threshold: float | None = Field(
        None, description="the least score of a detection that is a fragment (ours); by default all are"
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout of regions and of word vectors (ours)")
    unit_norm: bool = Field(False, description="whether fragments are scaled to unit norm (ours)")
    least_detections: int = Field(
        0, ge=0, description="how many detections, the best first, are fragments whatever the threshold (ours)"
    )

    @property
    def sum_options(self) -> dict[str, bool]:
        """The options of `sums_of_scores` (densevse/kernels/fragment_sums.py) that this score takes."""
        best_region = self.score == "best_region"
        return {"best_region": best_region, "truncated": not best_region if self.truncated is None else self.truncated}

    def cost(self, sizes: InputSizes) -> MethodCost:
        """All regions of an image with all dependencies of a sentence, about as many as its words."""
        word = sizes.word_length(self.word_vectors, self.word_dimension)
        region, triplet = product(sizes.image_length, self.dimension), product(2 * word, self.dimension)
        pair = sizes.regions * product(sizes.words, self.dimension)
        return MethodCost(sizes.regions * region, sizes.words * triplet, pair, operators=300)

    @model_validator(mode="after")
    def _something_is_learned(self) -> Self:
        if self.fragment_objective == "none" and self.beta == 0:
            raise ValueError("fragment_objective is none and beta is 0: no objective is left")
        return self

    @model_validator(mode="after")
    def _a_threshold_is_given(self) -> Self:
        if self.threshold is None and self.least_detections:
            raise ValueError("least_detections: without a threshold all detections are fragments; set threshold too")
        return self
