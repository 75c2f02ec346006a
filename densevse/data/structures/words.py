"""The words of sentences, as tokens.parquet stores them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from densevse.data.files import Artifacts
from densevse.data.ragged import RaggedNumbers
from densevse.data.structures import Structure
from densevse.language.words import UNKNOWN
from densevse.methods.structures import Words
from densevse.runtime.arrays import Indices


class WordsOfSentences(Structure):
    """The word numbers of all sentences of a split, sentence after sentence."""

    def __init__(self, words: RaggedNumbers) -> None:
        self._words = words

    @classmethod
    def read(cls, artifacts: Artifacts, caption_ids: NDArray[np.object_]) -> Self:
        """A sentence without any word is the unknown word."""
        encode = artifacts.vocabulary.encode
        words = ((place, encode(tokens) or [UNKNOWN]) for place, tokens in artifacts.tokens(caption_ids))
        return cls(RaggedNumbers.from_lists(len(caption_ids), 1, words))

    def take(self, sentences: Indices) -> Words:
        """The words of some sentences, padded to the longest of them."""
        (index,), lengths = self._words.padded_columns(sentences)
        return Words(torch.from_numpy(index.copy()), torch.from_numpy(lengths), index)

    def contents(self, sentences: int) -> Iterable[bytes]:
        """The word numbers of each sentence."""
        bounds = pairwise(self._words.lists.first.tolist())
        return (self._words.rows[first:last].tobytes() for first, last in bounds)


STRUCTURE = WordsOfSentences
