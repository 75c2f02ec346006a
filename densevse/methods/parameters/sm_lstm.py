"""Declares the parameters of config/methods/sm_lstm.yaml; defaults are the paper's or, where it is silent, ours."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from densevse.config.costs import InputSizes, MethodCost, product, recurrent_step
from densevse.config.values import Length
from densevse.methods.parameters.vse import NEGATIVES, OF_RANKING_LOSS, Negatives, Temperature
from snakeproof.strict import Strict


class Parameters(Strict):
    """The parameters of sm-LSTM (Huang, Wang, Wang, CVPR 2017)."""

    ORIGINS: ClassVar = {
        "*": "paper, 4.2",
        **dict.fromkeys(("word_dimension", "attention_units", "similarity", "score_units", "dropout"), "chosen"),
        "comparison": "chosen, section 3.4 is silent",
        "balance": "chosen on val of Flickr8k; the paper's 100 is that of Eq 7 as printed",
        "mismatched": "paper, 3.5",
        "negatives": "paper, Eq 6",
        "attention": "ours, Eq 2 repaired",
        "state": "paper, Eq 2",
        "regulariser": "ours, Eq 7 repaired",
        "contexts_in_score": "paper, 3.4",
        "head": "paper, Eq 5",
        "context_word_dimension": "public code of VSE",
        "pairs_at_once": "chosen, for speed",
    }

    RENAMED: ClassVar = {"loss": "negatives"}
    ADDED: ClassVar = frozenset({"temperature"})
    OF_LOSS: ClassVar = OF_RANKING_LOSS | {"mismatched", "balance", "regulariser"}

    steps: Length = Field(3, description="T, how many pairs of instances are selected one after the other")
    hidden: Length = Field(1024, description="H, units of the multimodal LSTM (section 4.2)")
    word_hidden: Length = Field(512, description="units of each direction of the BLSTM; G of the paper is twice this")
    word_dimension: Length = Field(
        300, description="length of a word vector, chosen; pre-trained vectors have their own"
    )
    word_vectors: Literal["learned", "fixed", "tuned"] = Field(
        "learned",
        description="vectors of the BLSTM and of the context: learned from nothing, or pre-trained, fixed or tuned",
    )
    longest: Length = Field(50, description="the longest sentence in words; longer ones are cut (section 4.2)")
    context_dimension: Length = Field(1024, description="E, units of the sentence context's LSTM; the VSE's dimension")
    context_word_dimension: Length = Field(300, description="length of its word vectors; the VSE's word_dimension")
    select: Literal["attention", "mean", "context"] = Field(
        "attention", description="the compared instances: attended instances; means (-mean); the two contexts (-ctx)"
    )
    context: bool = Field(True, description="whether global context modulates the attention; not in -att")
    attention: Literal["repaired", "printed"] = Field(
        "repaired", description="Eq 2 with its nonlinearity after the sum; or as printed, where only candidates count"
    )
    state: Literal["given", "scaled", "none"] = Field(
        "given", description="h of Eq 2, repaired: as it is; scaled to mean square 1, as cells and words are; left out"
    )
    contexts_in_score: bool = Field(
        False, description="whether s_t compares [a'_t; m] with [w'_t; n] (ours), or a'_t with w'_t"
    )
    attention_units: Length = Field(512, description="units of Eq 2, chosen")
    comparison: Literal["product", "sum"] = Field(
        "product",
        description="s_t of both instances' projections: their product; or the sigmoid of their sum, the form of Eq 2",
    )
    similarity: Length = Field(512, description="length of s_t, the representation of a local similarity, chosen")
    score_units: Length = Field(1024, description="hidden units of Eq 5, chosen")
    head: Literal["mlp", "cosine_and_mlp"] = Field(
        "mlp",
        description="the score: Eq 5; or VSE's cosine of the contexts plus Eq 5, whose last layer starts at 0 (ours)",
    )
    negatives: Negatives = Field("sum", description=f"{NEGATIVES}; Eq 6 is the sum")
    margin: float = Field(0.2, ge=0, description="m of Eq 6 (section 4.2)")
    temperature: Temperature = 0.07
    mismatched: int = Field(
        100, gt=0, description="mismatched sentences and images of each matched pair, if the batch has that many"
    )
    regulariser: Literal["squared", "printed"] = Field(
        "squared", description="Eq 7 with squares; or as printed, where it is constant"
    )
    balance: float = Field(
        1.0, ge=0, description="lambda of Eq 7; the regulariser is a mean over cells, words and matched pairs"
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout of word vectors, cells and contexts, chosen")
    pairs_at_once: int = Field(
        2048,
        gt=0,
        description="pairs of an image and a sentence that a CPU compares at once; bounds memory, changes nothing else "
        "(on a GPU, `numbers_at_once` of the configuration does)",
    )

    def cost(self, sizes: InputSizes) -> MethodCost:
        """T steps of attention over cells and words, each with a gated update."""
        of_cell, of_word = sizes.features["grid"], 2 * self.word_hidden
        context = sizes.image_length - of_cell
        if self.select == "context":
            of_cell, of_word = context, self.context_dimension
        attends = self.select == "attention"
        cells, words = (sizes.cells, sizes.words) if attends else (1, 1)
        later = (self.steps - 1) * attends  # steps with attention of their own
        units = self.attention_units * attends
        image = cells * product(of_cell, self.similarity + units) + product(context, units)
        sentence = words * product(of_word, self.similarity + units)
        if self.select != "context":
            word = sizes.word_length(self.word_vectors, self.word_dimension)
            sentence += 2 * sizes.words * recurrent_step("lstm", word, self.word_hidden)
        if self.select == "context" or (attends and self.context) or self.contexts_in_score or self.head != "mlp":
            word = sizes.word_length(self.word_vectors, self.context_word_dimension)
            sentence += sizes.words * recurrent_step("lstm", word, self.context_dimension)
        gates = (1 + later) * product(self.similarity, 4 * self.hidden)
        gates += (self.steps - 1) * product(self.hidden, 4 * self.hidden)
        selected = 2 * product(self.hidden, units) + product(cells + words, self.similarity)
        pair = gates + later * selected + product(self.hidden, self.score_units)
        sums = later * (cells + words) * units * (self.attention == "repaired")
        found = MethodCost(image, sentence, pair, sums=sums, operators=9000, mismatched=self.mismatched)
        return found.recompute_pairs(self.negatives)

    @model_validator(mode="after")
    def _contexts_join_instances(self) -> Self:
        if self.contexts_in_score and self.select == "context":
            raise ValueError(
                "contexts_in_score: with select: context, s_t compares the contexts and nothing that they could join; "
                "set it to false, or select to attention or mean"
            )
        return self
