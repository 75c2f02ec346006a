"""The parser's tokens with their part-of-speech tags, for SC-NLM."""

from collections import Counter
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from densevse.data.files import Artifacts
from densevse.data.ragged import RaggedNumbers
from densevse.data.structures import Structure
from densevse.language.tags import read_tags
from densevse.language.words import UNKNOWN
from densevse.methods.structures import Tags
from densevse.runtime.arrays import Indices


class TagsOfSentences(Structure):
    """Words and tags of all sentences of a split, sentence after sentence.

    A sentence that could not be parsed has its words, all with the unknown tag.
    """

    def __init__(self, words: RaggedNumbers) -> None:
        """A word's two numbers are its own and its tag's."""
        self._words = words

    @classmethod
    def read(cls, artifacts: Artifacts, caption_ids: NDArray[np.object_]) -> Self:
        """From the parses' tokens and tags."""
        known, words = read_tags(artifacts.files.input_path("tags")), artifacts.vocabulary
        plain = artifacts.unparsed_tokens(caption_ids)

        def numbers(place: int, tokens: list[str], tags: list[str]) -> NDArray[np.int64]:
            missing = place in plain
            own = (plain[place] if missing else [token.lower() for token in tokens]) or [""]
            return np.column_stack((words.encode(own), [UNKNOWN] * len(own) if missing else known.encode(tags)))

        parses = artifacts.parses(caption_ids, ["tokens", "tags"])
        found = ((place, numbers(place, tokens, tags)) for place, tokens, tags in parses)
        return cls(RaggedNumbers.from_lists(len(caption_ids), 2, found))

    @classmethod
    def sizes(cls, artifacts: Artifacts) -> dict[str, int]:
        """The number of tags, with padding and the unknown one."""
        return {"tags": len(read_tags(artifacts.files.input_path("tags")))}

    def take(self, sentences: Indices) -> Tags:
        """Some sentences, padded to the longest of them."""
        (words, tags), lengths = self._words.padded_columns(sentences)
        return Tags(torch.from_numpy(words), torch.from_numpy(tags), torch.from_numpy(lengths), lengths)

    def sequences(self, longest: int) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
        """The distinct sequences of at most `longest` tags without an unknown one, the most frequent first.

        Returns them with the number of sentences that have each.
        """
        ends, tags_of_all = self._words.lists.first, self._words.rows[:, 1]
        every = (tuple(tags_of_all[first:last].tolist()) for first, last in pairwise(ends.tolist()))
        counted = Counter(tags for tags in every if len(tags) <= longest and UNKNOWN not in tags)
        ordered = sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))
        return [tags for tags, _ in ordered], np.array([count for _, count in ordered], np.int64)


STRUCTURE = TagsOfSentences
