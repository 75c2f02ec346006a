"""VSE (Kiros, Salakhutdinov, Zemel 2014), and its close relatives as parameters.

x is a linear map of an image's CNN vector and v the last hidden state of an LSTM over its sentence's words, both of
unit norm; training makes matching pairs score higher than contrastive ones by a margin, in both directions. VSE++
(Faghri et al. 2018) keeps the hardest contrastive term only; order embeddings (Vendrov et al. 2016) replace the
cosine by an order-violation penalty.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.methods.interface import Batch, Images, Method, Sentences, Shapes
from densevse.methods.losses import hardest_hinges, order_scores, sum_of_hinges
from densevse.methods.recurrent import Recurrent, prefixes
from densevse.methods.words import WordVectors, word_vectors

Encoder = Literal["lstm", "gru", "bag_of_words", "linear"]
Loss = Literal["sum", "hardest"]
Similarity = Literal["cosine", "order"]


@dataclass(frozen=True, kw_only=True)
class VSEParameters:
    """What the paper and the authors' public code state. Raises `ValueError` naming a value that does not fit."""

    dimension: int  # of the joint space
    word_dimension: int  # of a word vector; pre-trained vectors bring their own
    word_vectors: WordVectors  # learned; or pre-trained ones, fixed or tuned further
    encoder: Encoder  # of sentences; linear is the sum of word vectors (vector arithmetic)
    loss: Loss  # over all contrastive terms, or the hardest
    similarity: Similarity
    margin: float
    dropout: float  # of word vectors and of the CNN vector, in training
    warm_up_steps: int  # batches on all contrastive terms before the hardest alone

    def __post_init__(self) -> None:
        for name, choices in (
            ("encoder", Encoder),
            ("loss", Loss),
            ("similarity", Similarity),
            ("word_vectors", WordVectors),
        ):
            if getattr(self, name) not in get_args(choices):
                raise ValueError(f"parameters.{name}: {getattr(self, name)!r} is not one of {get_args(choices)}")


class VSE(Method):
    """The joint embedding. Encodings are (I, dimension) and (S, dimension), of unit norm."""

    Parameters: ClassVar[type] = VSEParameters
    parameters_of_paper: VSEParameters
    steps: Tensor

    def __init__(self, parameters: VSEParameters, shapes: Shapes) -> None:
        super().__init__(parameters, shapes)
        if set(shapes.features) not in ({"whole"}, {"ten_crop"}):
            raise ValueError(f"vse reads one vector an image (view whole or ten_crop), not {sorted(shapes.features)}")
        ((self.view, size),) = shapes.features.items()
        self.image = nn.Linear(size, parameters.dimension)
        nn.init.xavier_uniform_(self.image.weight)
        nn.init.zeros_(self.image.bias)
        self.words = _word_vectors(parameters, shapes)
        self.sentence = _sentence_encoder(parameters, self.words.embedding_dim)
        self.dropout = nn.Dropout(parameters.dropout)
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))  # batches seen, kept in checkpoints

    def encode_images(self, images: Images) -> tuple[Tensor]:
        """X, the linear map of the CNN's vector, of unit norm."""
        return (self._placed(self.image(self.dropout(images.views[self.view]))),)

    def encode_sentences(self, sentences: Sentences) -> tuple[Tensor]:
        """V, the sentence encoder's last state, of unit norm."""
        if isinstance(self.sentence, Recurrent):
            tree = prefixes(sentences.words, sentences.lengths)
            return (self._placed(self.sentence(self.dropout(self.words(tree.distinct)), tree)),)
        total = self.dropout(self.words(sentences.words)).sum(dim=1)  # padding has the zero vector
        return (self._placed(self.sentence(total / sentences.lengths.unsqueeze(1))),)

    def score(self, images: tuple[Tensor, ...], sentences: tuple[Tensor, ...]) -> Tensor:
        """(I, S) cosines, or minus the order-violation penalty."""
        if self.parameters_of_paper.similarity == "order":
            return order_scores(images[0], sentences[0])
        return images[0] @ sentences[0].t()

    def loss(self, batch: Batch) -> Tensor:
        """The pairwise ranking loss of the poster, over all contrastive terms of the batch or the hardest."""
        scores = self.score(self.encode_images(batch.images), self.encode_sentences(batch.sentences)).float()
        warming_up = int(self.steps) < self.parameters_of_paper.warm_up_steps
        self.steps += 1
        ranking = sum_of_hinges if self.parameters_of_paper.loss == "sum" or warming_up else hardest_hinges
        return ranking(scores, batch.positives, self.parameters_of_paper.margin)

    def _placed(self, vectors: Tensor) -> Tensor:
        """Of unit norm, and for order embeddings with absolute values (Vendrov et al. 2016, section 5.1)."""
        unit = functional.normalize(vectors, dim=1)
        return unit.abs() if self.parameters_of_paper.similarity == "order" else unit


def _word_vectors(parameters: VSEParameters, shapes: Shapes) -> nn.Embedding:
    """The words' vectors; where the encoder only adds them up, they are of the space's dimension."""
    linear = parameters.encoder == "linear"
    words = word_vectors(parameters.word_vectors, parameters.dimension if linear else parameters.word_dimension, shapes)
    if linear and words.embedding_dim != parameters.dimension:
        raise ValueError(f"a linear encoder's dimension is its word vectors': {words.embedding_dim}")
    return words


def _sentence_encoder(parameters: VSEParameters, word_dimension: int) -> nn.Module:
    if parameters.encoder == "linear":
        return nn.Identity()
    if parameters.encoder == "bag_of_words":
        return nn.Linear(word_dimension, parameters.dimension)
    return Recurrent(parameters.encoder, word_dimension, parameters.dimension)
