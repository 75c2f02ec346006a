"""Counts words."""

from collections import Counter
from pathlib import Path

from counting.kinds import COUNTS
from counting.letters import split_words
from snakeproof import schema


def count_words(text: str, output: str, shortest: int, rarest: int) -> None:
    """Writes the words of a text that have `shortest` letters or more and occur `rarest` times or more."""
    counts = Counter(split_words(Path(text).read_text(encoding="utf-8")))
    kept = {word: count for word, count in counts.items() if len(word) >= shortest and count >= rarest}
    schema.write(({"word": word, "count": kept[word]} for word in sorted(kept)), COUNTS, output)
