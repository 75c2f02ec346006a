"""An n-gram language model with interpolated Kneser-Ney smoothing.

Kneser and Ney, Improved Backing-off for M-gram Language Modeling, 1995, in the interpolated form of Chen and Goodman,
An Empirical Study of Smoothing Techniques for Language Modeling, 1999 (section 2.7): with a context h of n - 1 words,

    P(w | h) = max(c(h w) - D, 0) / c(h) + D N(h .) / c(h) P(w | h')

where c counts n-grams, N(h .) is the number of distinct words after h, and h' is h without its first word. D is n_1 /
(n_1 + 2 n_2), with the numbers of n-grams that occur once and twice; it is 0.5 if none occurs once. Below the highest
order, c(h w) is the number of distinct words before h w; below the lowest order, all words of the vocabulary have equal
probability.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

BEGIN, END = -1, 0

Words = tuple[int, ...]


class Counts(NamedTuple):
    """The counts of n-grams of one length."""

    ngrams: Counter[Words]  # c(h w)
    total: Counter[Words]  # c(h)
    following: Counter[Words]  # N(h .)
    discount: float  # D


class KneserNey:
    """The model of sentences: sequences of word numbers from 1, each with an end that is predicted too."""

    def __init__(self, sentences: Iterable[Sequence[int]], order: int, words: int) -> None:
        """Counts n-grams of up to `order` words; `words` is the size of the vocabulary with the end.

        Raises `ValueError` if there is no sentence.
        """
        self.order, self.words = order, words
        highest = Counter(
            tuple(padded[start : start + order])
            for padded in ([BEGIN] * (order - 1) + [*sentence, END] for sentence in sentences)
            for start in range(len(padded) - order + 1)
        )
        if not highest:
            raise ValueError("an n-gram model needs at least one sentence")
        counts = [highest]
        while len(counts) < order:
            # Each distinct longer n-gram is one distinct word before the shorter one.
            counts.append(Counter(longer[1:] for longer in counts[-1]))
        self._orders = [_counts(ngrams) for ngrams in reversed(counts)]  # from single words to the highest order
        self._known: dict[Words, float] = {}

    def log_probability(self, sentence: Sequence[int]) -> float:
        """The natural logarithm of the probability of a sentence and its end."""
        padded = [BEGIN] * (self.order - 1) + [*sentence, END]
        return sum(math.log(self.probability(tuple(padded[n : n + self.order]))) for n in range(len(sentence) + 1))

    def probability(self, ngram: Words) -> float:
        """P(w | h) of an n-gram h w of at most `order` words."""
        if not ngram:
            return 1 / self.words
        if (known := self._known.get(ngram)) is not None:
            return known
        order, context = self._orders[len(ngram) - 1], ngram[:-1]
        shorter = self.probability(ngram[1:])
        found = shorter
        if total := order.total[context]:
            own = max(order.ngrams[ngram] - order.discount, 0)
            found = (own + order.discount * order.following[context] * shorter) / total
        self._known[ngram] = found
        return found


def _counts(ngrams: Counter[Words]) -> Counts:
    total: Counter[Words] = Counter()
    following: Counter[Words] = Counter()
    for ngram, times in ngrams.items():
        total[ngram[:-1]] += times
        following[ngram[:-1]] += 1
    often = Counter(ngrams.values())
    once, twice = often[1], often[2]
    return Counts(ngrams, total, following, once / (once + 2 * twice) if once else 0.5)
