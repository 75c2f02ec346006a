"""The vectors of words, as every method looks them up."""

from typing import Literal

import torch
from torch import Tensor, nn

from densevse.methods.interface import Shapes

WordVectors = Literal["learned", "fixed", "tuned"]


def word_vectors(kind: WordVectors, dimension: int, shapes: Shapes) -> nn.Embedding:
    """(words, dimension) vectors: learned from nothing, or the pre-trained ones, fixed or tuned further.

    Padding has the zero vector, and so has the unknown word until training meets it. Learned ones begin small: of a
    word that is met once or twice, what it began with stays, and should say little. Raises `ValueError` if
    pre-trained vectors are wanted but none are given.
    """
    if kind == "learned":
        words = nn.Embedding(shapes.words, dimension, padding_idx=0)
        nn.init.uniform_(words.weight, -0.1, 0.1)
        nn.init.zeros_(words.weight.data[:2])
        return words
    if shapes.word_vectors is None:
        raise ValueError(f"parameters.word_vectors is {kind} but no pre-trained vectors were given")
    given: nn.Embedding = nn.Embedding.from_pretrained(
        shapes.word_vectors.clone(), freeze=kind == "fixed", padding_idx=0
    )
    return given


def known_words(words: nn.Embedding) -> Tensor:
    """(words,) bool: which words have a vector; padding, the unknown word and words without pre-trained ones do not."""
    return (words.weight.detach() != 0).any(dim=1) & (torch.arange(words.num_embeddings) > 1)
