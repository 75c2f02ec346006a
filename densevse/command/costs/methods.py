"""The arithmetic of the methods of the papers: what an image, a sentence and a pair of them cost, by their equations.

Products are counted and what costs little is left out. A method that is not here, such as one of your own, is
estimated from recorded costs.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Read(NamedTuple):
    """The sizes of what a method reads."""

    features: Mapping[str, int]  # view -> values of a vector
    regions: int  # of an image
    cells: int  # of an image's grid
    words: float  # of a sentence, with its end
    vector: int | None  # values of a pre-trained word vector; None without any
    known: int  # words of the vocabulary


class MethodCost(NamedTuple):
    """What a method computes for each image, sentence and pair, in floating-point operations of its products."""

    image: float
    sentence: float
    pair: float
    described: float = 0  # for each sentence in training alone: what is written, or what describes phrases
    sums: float = 0  # terms of tanh sums, for each pair
    operators: int = 500  # that a training step starts
    # Of a pair in training: forwards, and twice as much backwards; more if computed again, none without negatives.
    passes: int = 3


def vse(p: Any, read: Read) -> MethodCost:
    """The VSE family: a linear map of the image's vectors in a row, and a recurrent network over words."""
    length = sum(read.features.values())
    gates = {"lstm": 4, "gru": 3}.get(p.encoder, 0)
    recurrent = read.words * _gates(_word(p, read), p.dimension, gates)
    return MethodCost(2 * length * p.dimension, recurrent or 2 * p.word_dimension * p.dimension, 2 * p.dimension)


def sco(p: Any, read: Read) -> MethodCost:
    """SCO: the gated fusion of two vectors, and two LSTMs, of which one predicts each word of the vocabulary."""
    fused = 2 if p.fusion == "gate" and len(read.features) > 1 else 1
    lstm = read.words * _gates(p.word_dimension, p.dimension, 4)
    known = min(read.known, p.generated_words or read.known)
    predicted = read.words * 2 * p.word_dimension * (p.dimension + known)
    written = lstm + predicted if p.generation_weight else 0
    image = 2 * fused * sum(read.features.values()) * p.dimension
    return MethodCost(image, lstm, 2 * p.dimension, described=written, operators=1000)


def scan(p: Any, read: Read) -> MethodCost:
    """SCAN: similarities of all regions and words of a pair, and sums weighted by them."""
    ((view, length),) = read.features.items()
    fragments = read.cells if view == "grid" else read.regions
    words = 2 * read.words * _gates(_word(p, read), p.dimension, 3)
    pair = 4 * fragments * read.words * p.dimension
    return MethodCost(fragments * 2 * length * p.dimension, words, pair, operators=2200)


def sm_lstm(p: Any, read: Read) -> MethodCost:
    """sm-LSTM: T steps of attention over cells and words, each with a gated update; backwards recomputes a pair."""
    contexts, grid = sum(read.features.values()) - read.features["grid"], read.features["grid"]
    state, candidates = 2 * p.word_hidden, read.cells + read.words
    attends = p.select == "attention"
    image = read.cells * 2 * grid * (p.similarity + attends * p.attention_units) + 2 * contexts * p.attention_units
    words = read.words * (2 * _gates(_word(p, read), p.word_hidden, 4) + 2 * state * (p.similarity + p.attention_units))
    context = read.words * _gates(p.context_word_dimension, p.context_dimension, 4)
    gates = p.steps * _gates(p.similarity, p.hidden, 4)
    attention = attends * (p.steps - 1) * (4 * p.hidden * p.attention_units + 2 * candidates * p.similarity)
    pair = gates + attention + 2 * p.hidden * p.score_units
    sums = attends * (p.steps - 1) * candidates * p.attention_units
    return MethodCost(image, words + context, pair, sums=sums, operators=9000, passes=4)


def hm_lstm(p: Any, read: Read) -> MethodCost:
    """HM-LSTM: about .8 inner nodes of a tree for each word, and four phrases in a sentence, each with a region."""
    size = _word(p, read)
    leaves = read.words * 8 * size * p.hidden
    inner = 0.8 * read.words * (2 * 6 * p.hidden**2) + 1.8 * read.words * 2 * p.hidden**2
    region = 2 * read.features["regions"] * p.dimension
    text = 2 * p.hidden * p.dimension
    return MethodCost(
        region, leaves + inner + text, 2 * p.dimension, described=_PHRASES * (region + text), operators=1200
    )


_PHRASES = 4
"""Noun phrases of a sentence, on average."""


def defrag(p: Any, read: Read) -> MethodCost:
    """DeFrag: all regions of an image with all dependencies of a sentence, about as many as its words."""
    ((_, length),) = read.features.items()
    sentence = read.words * 4 * _word(p, read) * p.dimension
    pair = read.regions * read.words * 2 * p.dimension
    return MethodCost(read.regions * 2 * length * p.dimension, sentence, pair, operators=300)


def deepvs(p: Any, read: Read) -> MethodCost:
    """DeepVS: a recurrent network over words in both directions, and all regions of an image with all words."""
    word = _word(p, read) * p.hidden + 2 * p.hidden**2 + p.hidden * p.dimension
    pair = read.regions * read.words * 2 * p.dimension
    image = read.regions * 2 * read.features["regions"] * p.dimension
    return MethodCost(image, read.words * 2 * word, pair, operators=300)


def nic(p: Any, read: Read) -> MethodCost:
    """NIC: an LSTM over the image and words of each pair, which predicts each word; log p(s) is left out."""
    (length,) = read.features.values()
    lstm = (read.words + 1) * _gates(p.word_dimension, p.dimension, 4)
    pair = lstm + read.words * 2 * p.word_dimension * (p.dimension + read.known)
    return MethodCost(2 * length * p.word_dimension, 0, pair, described=pair, passes=0)


def m_rnn(p: Any, read: Read) -> MethodCost:
    """m-RNN: a recurrent network over words, and the prediction of each word of a pair; log p(s) is left out."""
    (length,) = read.features.values()
    size = p.word_dimension
    word = p.embedding * size + size**2 + 2 * size * p.multimodal
    pair = read.words * 2 * p.multimodal * read.known
    return MethodCost(2 * length * p.multimodal, read.words * 2 * word, pair, described=pair, passes=0)


def sdt_rnn(p: Any, read: Read) -> MethodCost:
    """SDT-RNN: a matrix for each word's relation to its head."""
    (length,) = read.features.values()
    words = read.words * 2 * (_word(p, read) * p.dimension + p.dimension**2)
    return MethodCost(2 * length * p.dimension, words, 2 * p.dimension, operators=1000)


def devise(p: Any, read: Read) -> MethodCost:
    """DeViSE: a linear map of the image's vector to the mean of word vectors."""
    (length,), size = read.features.values(), _word(p, read)
    return MethodCost(2 * length * size, read.words * size, 2 * size, operators=200)


def cca(p: Any, read: Read) -> MethodCost:
    """CCA: two linear maps; the covariances of its closed form are left out."""
    (length,) = read.features.values()
    vector = read.vector if p.sentence == "word_vectors" and read.vector else read.known
    size = min(length, vector)
    return MethodCost(2 * length * size, 2 * vector * size, 2 * size, operators=100)


def dspe(p: Any, read: Read) -> MethodCost:
    """DSPE: two layers on each side."""
    (length,) = read.features.values()
    vector = read.vector if p.sentence == "word_vectors" and read.vector else read.known
    above = 2 * p.hidden * p.dimension
    return MethodCost(2 * length * p.hidden + above, 2 * vector * p.hidden + above, 4 * p.dimension, operators=300)


METHODS: Mapping[str, Callable[[Any, Read], MethodCost]] = {
    "vse": vse,
    "sco": sco,
    "scan": scan,
    "sm_lstm": sm_lstm,
    "hm_lstm": hm_lstm,
    "hm_lstm_phrases": hm_lstm,
    "defrag": defrag,
    "deepvs": deepvs,
    "nic": nic,
    "m_rnn": m_rnn,
    "sdt_rnn": sdt_rnn,
    "devise": devise,
    "cca": cca,
    "dspe": dspe,
}
"""The method's file in densevse/methods -> its cost, given its parameters and what it reads."""


def step_work(cost: MethodCost, batch: int, mismatched: int | None) -> Mapping[str, float]:
    """The work of a training step on `batch` sentences, each with its image; backwards costs twice forwards.

    The maps of images need no gradient of what they read. Each sentence is compared with `mismatched` others, by
    default with all of the batch.
    """
    pairs = batch * (batch if mismatched is None else 1 + min(mismatched, batch - 1))
    products = batch * (2 * cost.image + 3 * (cost.sentence + cost.described)) + cost.passes * pairs * cost.pair
    return {"products": products, "sums": cost.passes * pairs * cost.sums, "operators": cost.operators}


def ranking_work(cost: MethodCost, images: float, sentences: float) -> Mapping[str, float]:
    """The work of encoding images and sentences and scoring all their pairs."""
    pairs = images * sentences
    products = images * cost.image + sentences * cost.sentence + pairs * cost.pair
    return {"products": products, "sums": pairs * cost.sums}


def _gates(inputs: float, hidden: float, gates: int) -> float:
    """The operations of a recurrent network for a word."""
    return 2 * gates * hidden * (inputs + hidden)


def _word(p: Any, read: Read) -> int:
    """The values of a word's vector."""
    return read.vector if p.word_vectors != "learned" and read.vector else int(p.word_dimension)
