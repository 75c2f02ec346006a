"""The words of sentences, as tokens.parquet stores them."""

from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from densevse.data.ragged import Ragged
from densevse.data.structures import Structure
from densevse.data.texts import Texts
from densevse.language.words import UNKNOWN
from densevse.methods.structures import Words
from densevse.runtime.arrays import Indices


class WordsOfSentences(Structure):
    """The word numbers of all sentences of a split, sentence after sentence."""

    def __init__(self, words: list[list[int]]) -> None:
        self._sentences = Ragged.of_lengths([len(sentence) for sentence in words])
        self._words = np.array([word for sentence in words for word in sentence], np.int64)

    @classmethod
    def read(cls, texts: Texts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads tokens; a sentence without any word becomes the unknown word."""
        return cls([texts.vocabulary.encode(tokens) or [UNKNOWN] for tokens in texts.tokens_of(caption_ids)])

    def take(self, sentences: Indices) -> Words:
        """The words of some sentences, padded to the length of the longest."""
        items, owner, place = self._sentences.take(sentences)
        lengths = self._sentences.lengths(sentences)
        index = np.zeros((len(sentences), int(lengths.max(initial=1))), np.int64)
        index[owner, place] = self._words[items]
        return Words(torch.from_numpy(index.copy()), torch.from_numpy(lengths), index)


STRUCTURE = WordsOfSentences
