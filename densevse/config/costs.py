"""The work of a method, as `cost` of its parameters counts it: the products of its equations, by common pieces.

A multiplication with its addition is two operations. What costs little is left out.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Self

HINGED = 0.08
"""The share of pairs whose hinge is above 0, the mean of 15 epochs: .44 in the first one, .10 in the third, .02 in the
last (sm-LSTM with 100 mismatched pairs on the generated data set scenes; on photographs it was not measured)."""


class InputSizes(NamedTuple):
    """The sizes of what a method reads."""

    features: Mapping[str, int]  # view -> values of a vector
    regions: int  # of an image, with the whole image; 1 if no regions are read
    cells: int  # of an image's grid
    words: float  # of a sentence, with its end
    phrases: float  # noun phrases of a sentence
    assigned: bool  # whether training knows the regions of phrases
    vector: int | None  # values of a pre-trained word vector; None without any
    known: int  # words of the vocabulary

    @property
    def image_length(self) -> int:
        """The values of an image's vectors, one of each view."""
        return sum(self.features.values())

    def word_length(self, kind: str, otherwise: int) -> int:
        """The values of a pre-trained word vector; where words are learned or shares are read, `otherwise`."""
        return self.vector if kind not in ("learned", "word_shares") and self.vector else otherwise


class MethodCost(NamedTuple):
    """The operations of a method's products, forwards, for each image, each sentence and each pair of the two."""

    image: float
    sentence: float
    pair: float
    trained_sentence: float = 0  # more for a sentence in training: its generation, or its phrases and their regions
    ranked_image: float = 0  # more for an image in ranking
    ranked_sentence: float = 0  # more for a sentence in ranking
    sums: float = 0  # terms of tanh sums, for each pair
    operators: int = 500  # that a training step starts
    passes: float = 3  # of a pair in training: forwards, and twice as much backwards
    mismatched: int | None = None  # other sentences that training compares an image with; None: those of the batch

    def recompute_pairs(self, negatives: str) -> Self:
        """The cost if the gradient computes pairs again: those with a hinge, its own and the two hardest, or all."""
        if negatives == "hardest":
            return self._replace(passes=1, trained_sentence=3 * self.pair)
        return self._replace(passes=1 + 3 * HINGED if negatives == "sum" else 4)

    def step_work(self, batch: int) -> Mapping[str, float]:
        """The work of a step on `batch` sentences and their images, which get no gradient; backwards costs twice."""
        pairs = self.passes * batch * (batch if self.mismatched is None else 1 + min(self.mismatched, batch - 1))
        products = batch * (2 * self.image + 3 * (self.sentence + self.trained_sentence)) + pairs * self.pair
        return {"products": products, "sums": pairs * self.sums, "operators": self.operators}

    def ranking_work(self, images: float, sentences: float) -> Mapping[str, float]:
        """The work of encoding images and sentences and scoring all their pairs."""
        encoded = images * (self.image + self.ranked_image) + sentences * (self.sentence + self.ranked_sentence)
        return {"products": encoded + images * sentences * self.pair, "sums": images * sentences * self.sums}


def product(inputs: float, outputs: float) -> float:
    """The operations of a vector's product with a matrix."""
    return 2 * inputs * outputs


def recurrent_step(kind: Literal["lstm", "gru"], inputs: float, hidden: float) -> float:
    """The operations of a recurrent network for a word."""
    return product(inputs + hidden, {"lstm": 4, "gru": 3}[kind] * hidden)


def decoder_step(word: float, hidden: float, known: float) -> float:
    """The operations of an LSTM that reads a word and predicts the next of the `known` ones by its vector."""
    return recurrent_step("lstm", word, hidden) + product(hidden, word) + product(word, known)
