"""Declares the parameters of config/methods/scan.yaml; defaults are the paper's t-i AVG, or the authors' code's."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product, recurrent_step
from densevse.config.values import Length
from densevse.methods.parameters.vse import NEGATIVES, OF_RANKING_LOSS, Negatives, Temperature
from snakeproof.strict import Strict


class Parameters(Strict):
    """The parameters of SCAN (Lee et al., ECCV 2018)."""

    ORIGINS: ClassVar = {"*": "public code", "whole_image": "paper", "dropout": "chosen"}
    ADDED: ClassVar = frozenset({"temperature"})
    OF_LOSS: ClassVar = OF_RANKING_LOSS.union(
        ("direction", "raw_feature_norm", "negative_slope", "lambda_softmax", "pooling", "lambda_lse")
    )
    DIFFERS: ClassVar = (
        "sentences have no <start> and <end>, to which the authors' regions attend and over which AVG and LSE pool",
        "words are all those of the training sentences; there, those of train and dev with 4 occurrences or more",
        "an unknown word starts as the zero vector; there, as a random one",
        "the GRU starts with Xavier's and orthogonal weights and zero biases; there, with PyTorch's uniform ones",
        "the epoch is chosen on all sentences of val; there, on the first 5,000",
        "features are stored as float16; there, as float32",
    )

    direction: Literal["t2i", "i2t"] = Field(
        "t2i", description="t-i: each word attends to the regions; i-t: each region attends to the words"
    )
    pooling: Literal["lse", "avg"] = Field(
        "avg", description="how the scores of all words (t-i) or regions (i-t) are combined: LogSumExp or the mean"
    )
    raw_feature_norm: Literal[
        "clipped_l2norm", "l2norm", "clipped_l1norm", "l1norm", "clipped", "softmax", "no_norm"
    ] = Field(
        "clipped_l2norm",
        description="how the similarities of a region with all words (t-i), or of a word with all regions (i-t), "
        "are normalised before the softmax; clipped ones by LeakyReLU first",
    )
    negative_slope: float = Field(0.1, ge=0, le=1, description="slope of LeakyReLU; 0 for the paper's threshold at 0")
    lambda_softmax: float = Field(
        9.0, gt=0, description="lambda_1, the inverse temperature of the softmax over the contexts"
    )
    lambda_lse: float = Field(6.0, gt=0, description="lambda_2 of LogSumExp")
    dimension: Length = Field(1024, description="dimension of the joint space")
    word_dimension: Length = Field(300, description="length of a word vector; pre-trained vectors have their own")
    word_vectors: Literal["learned", "fixed", "tuned"] = Field(
        "learned", description="learned from nothing; or pre-trained ones, fixed or tuned further"
    )
    whole_image: bool = Field(
        False, description="whether region 0, the whole image, is one of the regions; without, where there is no other"
    )
    negatives: Negatives = Field("hardest", description=NEGATIVES)
    margin: float = Field(0.2, ge=0, description="the margin by which matching pairs must score higher than negatives")
    temperature: Temperature = 0.07
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout of word vectors and of regions")

    def cost(self, sizes: InputSizes) -> MethodCost:
        """Similarities of all regions and words of a pair, and sums weighted by them."""
        fragments = sizes.cells if "grid" in sizes.features else sizes.regions
        word = sizes.word_length(self.word_vectors, self.word_dimension)
        contexts = fragments if self.direction == "t2i" else sizes.words
        pair = fragments * product(sizes.words, self.dimension + contexts)
        image, sentence = product(sizes.image_length, self.dimension), recurrent_step("gru", word, self.dimension)
        found = MethodCost(fragments * image, 2 * sizes.words * sentence, pair, operators=4000)
        return found.recompute_pairs(self.negatives)
