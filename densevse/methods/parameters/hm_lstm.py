"""Declares the parameters of config/methods/hm_lstm.yaml; defaults are the paper's or, where it is silent, ours."""

from typing import ClassVar, Literal

from pydantic import Field

from densevse.config.costs import InputSizes, MethodCost, product, recurrent_step
from densevse.config.values import Length
from snakeproof.strict import Strict

Negatives = Literal["sum", "mean", "hardest"]


class Parameters(Strict):
    """The parameters of HM-LSTM (Niu et al., ICCV 2017)."""

    ORIGINS: ClassVar = {
        "*": "paper",
        "dimension": "paper, 5.1.1",
        "hidden": "paper, 5.1.1",
        "word_vectors": "paper, 3.2.1",
        **dict.fromkeys(
            ("word_dimension", "margin", "phrase_negatives", "root_weight", "contrast", "identical_phrases"), "chosen"
        ),
        "candidates": "paper, 3.3",
    }

    # Parameters that change neither a trained round 0 nor its correspondences: variants that differ only in these share
    # both.
    LATER: ClassVar[frozenset[str]] = frozenset(
        {"phrase_weight", "phrases", "phrase_negatives", "contrast", "identical_phrases"}
    )
    OF_LOSS: ClassVar = LATER | {"margin", "negatives", "root_weight"}

    dimension: Length = Field(default=512, description="dimension of the embedding space (section 5.1.1)")
    hidden: Length = Field(default=512, description="units of the H-LSTM (section 5.1.1)")
    typed: bool = Field(
        default=True, description="noun phrase children have weights of their own (Eq 2-7); if not, a plain Tree-LSTM"
    )
    word_vectors: Literal["learned", "fixed", "tuned"] = Field(
        default="fixed", description="pre-trained and fixed (section 3.2.1), tuned further, or learned from nothing"
    )
    word_dimension: Length = Field(default=300, description="length of word vectors that are learned from nothing")
    leaves: Literal["words", "bilstm"] = Field(
        default="words",
        description="what a tree's leaves are: words; or, ours, words that have read their sentence by a BiLSTM",
    )
    margin: float = Field(default=0.1, ge=0, description="m of Eq 9, chosen")
    negatives: Negatives = Field(
        default="sum", description="what Eq 9 takes over the contrastive items: the paper's sum"
    )
    phrase_negatives: Negatives | None = Field(
        default=None,
        description="the same for phrases and their regions (ours); by default `negatives`. The hardest negative of a "
        "phrase is often a paraphrase of it",
    )
    root_weight: float = Field(
        default=1.0, ge=0, description="w_d0 of Eq 10, of a whole sentence; 0 trains phrases alone (ours)"
    )
    phrase_weight: Literal["confidence", "uniform", "none"] = Field(
        default="confidence", description="w_dk of Eq 10, k > 0"
    )
    phrases: Literal["sum", "mean"] = Field(
        default="sum",
        description="what Eq 10 takes over a sentence's phrases; with mean they weigh no more than the sentence",
    )
    contrast: Literal["batch", "sentence", "whole"] = Field(
        default="batch",
        description="to what Eq 9 contrasts a phrase and its region: those of the batch's other images, chosen; those "
        "of its own sentence, as Eq 9 is printed; or the batch's other whole sentences and images",
    )
    identical_phrases: Literal["ignored", "same_head", "negatives"] = Field(
        default="ignored",
        description="'a man' of one image is no contrast to 'a man' of another, chosen; nor to 'an old man'; or both "
        "are",
    )
    confidence: Literal["score", "lead"] = Field(
        default="score", description="s_ij of the assigned region (section 3.3); or by how much it leads the next one"
    )
    dropout: float = Field(
        default=0.0, ge=0, lt=1, description="dropout of word vectors and of the CNN's vectors; the paper has none"
    )
    candidates: Literal["detections", "all"] = Field(
        default="detections",
        description="regions that a phrase may be assigned: detections (section 3.3); or, ours, the whole image too",
    )

    def cost(self, sizes: InputSizes) -> MethodCost:
        """Trees of words and about .8 inner nodes for each word; later rounds read phrases, each with a region."""
        size = sizes.word_length(self.word_vectors, self.word_dimension)
        leaf = product(size, 3 * self.hidden)
        if self.leaves == "bilstm":
            leaf += 2 * recurrent_step("lstm", size, size // 2)
        region, text = product(sizes.image_length, self.dimension), product(self.hidden, self.dimension)
        sentence = sizes.words * (leaf + 1.8 * product(self.hidden, 4 * self.hidden)) + text
        phrases = sizes.assigned * sizes.phrases * (region + text)
        return MethodCost(region, sentence, 2 * self.dimension, trained_sentence=phrases, operators=1200)
