"""Word vectors, looked up in the same way by every method."""

from typing import Literal

import torch
from torch import Tensor, nn

from densevse.methods.interface import Shapes

WordVectors = Literal["learned", "fixed", "tuned"]


def word_vectors(kind: WordVectors, dimension: int, shapes: Shapes) -> nn.Embedding:
    """(words, dimension) vectors: learned from random ones, or pre-trained, fixed or tuned.

    Padding has the zero vector, and so has the unknown word until training meets it. Learned vectors start small: a
    rare word nearly keeps its first vector, which should then say little. Raises `ValueError` if pre-trained vectors
    are wanted but none are given.
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
    """(words,) bool: false for padding, the unknown word and words without a pre-trained vector."""
    return (words.weight.detach() != 0).any(dim=1) & (torch.arange(words.num_embeddings) > 1)
