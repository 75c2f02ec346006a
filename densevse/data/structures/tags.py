"""The parser's tokens with their part-of-speech tags, for SC-NLM."""

from collections import Counter
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from densevse.data.ragged import Ragged
from densevse.data.structures import Structure
from densevse.data.texts import Texts
from densevse.language.tags import read_tags
from densevse.language.words import UNKNOWN
from densevse.methods.structures import Tags
from densevse.runtime.arrays import Indices


class TagsOfSentences(Structure):
    """Words and tags of all sentences of a split, sentence after sentence.

    A sentence that could not be parsed has its words, all with the unknown tag.
    """

    def __init__(self, lengths: list[int], words: NDArray[np.int64], tags: NDArray[np.int64]) -> None:
        self._sentences, self._words, self._tags = Ragged.of_lengths(lengths), words, tags

    @classmethod
    def read(cls, texts: Texts, caption_ids: NDArray[np.object_]) -> Self:
        """Reads the parses' tokens and tags."""
        known = read_tags(texts.files.one("tags"))
        parses = texts.parses_of(caption_ids, ["status", "tokens", "tags"])
        unparsed = (parses["status"] != "ok").to_numpy()
        plain = iter(texts.tokens_of(caption_ids[unparsed]) if unparsed.any() else [])
        words: list[list[int]] = []
        tags: list[list[int]] = []
        for missing, tokens, found in zip(unparsed, parses["tokens"], parses["tags"], strict=True):
            own = (next(plain) if missing else [token.lower() for token in tokens]) or [""]
            words.append(texts.vocabulary.encode(own))
            tags.append([UNKNOWN] * len(own) if missing else known.encode(found))
        lengths = [len(sentence) for sentence in words]
        return cls(lengths, *(np.array([n for one in flat for n in one], np.int64) for flat in (words, tags)))

    @classmethod
    def sizes(cls, texts: Texts) -> dict[str, int]:
        """The number of tags, with padding and the unknown one."""
        return {"tags": len(read_tags(texts.files.one("tags")))}

    def take(self, sentences: Indices) -> Tags:
        """Some sentences, padded to the length of the longest."""
        items, owner, place = self._sentences.take(sentences)
        lengths = self._sentences.lengths(sentences)
        padded = torch.zeros(2, len(sentences), int(lengths.max(initial=1)), dtype=torch.long)
        padded[:, owner, place] = torch.from_numpy(np.stack((self._words[items], self._tags[items])))
        return Tags(padded[0], padded[1], torch.from_numpy(lengths))

    def sequences(self, longest: int) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
        """The distinct sequences of at most `longest` tags without an unknown one, and the sentences of each.

        Returns them with the number of sentences of each, the most frequent first.
        """
        ends = self._sentences.first
        every = (tuple(self._tags[first:last].tolist()) for first, last in pairwise(ends.tolist()))
        counted = Counter(tags for tags in every if len(tags) <= longest and UNKNOWN not in tags)
        ordered = sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))
        return [tags for tags, _ in ordered], np.array([count for _, count in ordered], np.int64)


STRUCTURE = TagsOfSentences
