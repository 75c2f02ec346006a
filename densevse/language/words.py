"""Words: their counts in the training sentences, and the vocabulary of known ones."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

import pandas as pd

from densevse.artifacts.schemas.sentences import TOKENS, WORDS
from snakeproof import schema
from snakeproof.errors import InputError

UNKNOWN = 1


def drop_punctuation(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens that are words and not punctuation marks."""
    return tuple(token for token in tokens if any(character.isalnum() for character in token))


def count_words(sentences: Iterable[pd.DataFrame], minimum: int) -> pd.DataFrame:
    """Count the words of the training sentences among parts of TOKENS rows; rows of WORDS.

    Words are numbered by descending count, equal counts alphabetically, after padding (0) and the unknown word (1).
    Words rarer than `minimum` are left out. Raises `InputError` if no word remains.
    """
    counts: Counter[str] = Counter()
    training = 0
    for part in sentences:
        of_training = part.loc[part["split"] == "train", "tokens"]
        training += len(of_training)
        counts.update(word for tokens in of_training for word in tokens)
    kept = {word: count for word, count in counts.items() if count >= minimum}
    if not kept:
        raise InputError(
            f"the {training} training sentences have no word that occurs {minimum} times; "
            "give the data set sentences of split train, or a lower minimum_word_count."
        )
    return vocabulary_rows(kept, "word")


def vocabulary_rows(counts: Mapping[str, int], column: str) -> pd.DataFrame:
    """Rows of a vocabulary by descending count, equal counts alphabetically, numbered from 2 on."""
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    rows = pd.DataFrame(ordered, columns=[column, "count"])
    return rows.assign(index=range(UNKNOWN + 1, UNKNOWN + 1 + len(rows)))


def write_words(tokens: str, minimum: int, output: str) -> None:
    """The job that counts the words of training sentences (TOKENS), and writes them as WORDS; see `count_words`."""
    # Every training needs val, but begins only after all features.
    if not any((part["split"] == "val").any() for part in schema.read_parts([tokens], TOKENS, ["split"])):
        raise InputError(
            f"{tokens}: no sentence is of the split val, which chooses the epoch that a training keeps; name images "
            "for val in the data set's `options` (splits, split, files, sizes; see docs/data_sets.md)."
        )
    sentences = schema.read_parts([tokens], TOKENS, ["split", "tokens"])
    schema.write(count_words(sentences, minimum), WORDS, output)


class Vocabulary:
    """The numbers of known words; 0 is padding, and 1 is every other word."""

    def __init__(self, words: Iterable[str]) -> None:
        """Numbers `words`, the most frequent first, from 2 on."""
        self.words = list(words)
        self._index = {word: index for index, word in enumerate(self.words, start=UNKNOWN + 1)}

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Reads a WORDS artifact. Raises `InputError` if it is none, or its numbers are not 2, 3, ..."""
        rows = schema.read(path, WORDS, ["index", "word"])
        if rows["index"].to_list() != list(range(UNKNOWN + 1, UNKNOWN + 1 + len(rows))):
            raise InputError(f"{path}: its words are not numbered 2, 3, ...; delete it and run snakemake again.")
        return cls(rows["word"])

    def __len__(self) -> int:
        """The number of words, with padding and the unknown word."""
        return UNKNOWN + 1 + len(self.words)

    def __contains__(self, word: str) -> bool:
        """True if a word (lower case) has a number."""
        return word in self._index

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """The words of numbers from 2 on."""
        return [self.words[number - UNKNOWN - 1] for number in numbers]

    def encode(self, words: Iterable[str]) -> list[int]:
        """The number of each word (lower case), 1 if it is unknown."""
        return [self._index.get(word, UNKNOWN) for word in words]
