"""The Kneser-Ney model against its equation, and its treatment of unknown words."""

import math
from itertools import product

import numpy as np
import pytest

from densevse.language.ngrams import BEGIN, END, KneserNey

SENTENCES = [(2, 3, 4), (2, 3, 5, 4), (5, 3), (2, 3, 4), (4, 4, 2, 3)]
WORDS = 7  # 0, the end, to 6; 6 never occurs


def ngrams(order):
    padded = [(BEGIN,) * (order - 1) + sentence + (END,) for sentence in SENTENCES]
    return [sentence[n : n + order] for sentence in padded for n in range(len(sentence) - order + 1)]


def literal(word, context, highest):
    """P(word | context) as in the module's docstring, counted again each time."""
    if context is None:
        return 1 / WORDS
    length = len(context) + 1
    below = highest - length
    of_length = [ngram[below:] for ngram in (sorted(set(ngrams(highest))) if below else ngrams(highest))]
    for step in range(1, below):  # each shortening counts distinct n-grams again
        longer = {ngram[step:] for ngram in ngrams(highest)}
        of_length = [ngram[below - step :] for ngram in sorted(longer)]
    counts = {ngram: of_length.count(ngram) for ngram in of_length}
    often = list(counts.values())
    once, twice = often.count(1), often.count(2)
    discount = once / (once + 2 * twice) if once else 0.5
    total = sum(count for ngram, count in counts.items() if ngram[:-1] == context)
    shorter = literal(word, context[1:] if context else None, highest)
    if not total:
        return shorter
    following = sum(1 for ngram in counts if ngram[:-1] == context)
    own = max(counts.get((*context, word), 0) - discount, 0)
    return own / total + discount * following / total * shorter


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_are_those_of_the_equation(order):
    model = KneserNey(SENTENCES, order, WORDS)
    for context in product([BEGIN, 2, 3, 4, 6], repeat=order - 1):
        for word in range(WORDS):
            assert model.probability((*context, word)) == pytest.approx(literal(word, context, order), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_of_all_words_sum_to_one(order):
    model = KneserNey(SENTENCES, order, WORDS)
    for context in [(2, 3, 4), (BEGIN, BEGIN, BEGIN), (6, 6, 6), (4, 4, 2)]:
        used = context[: order - 1]
        assert sum(model.probability((*used, word)) for word in range(WORDS)) == pytest.approx(1)


def test_a_sentence_is_its_words_and_its_end():
    model = KneserNey(SENTENCES, 3, WORDS)
    expected = [(BEGIN, BEGIN, 2), (BEGIN, 2, 3), (2, 3, END)]
    assert model.log_probability((2, 3)) == pytest.approx(sum(math.log(model.probability(each)) for each in expected))
    assert model.log_probability((2, 3, 4)) > model.log_probability((3, 2, 4))


def test_a_sentence_of_unknown_words_only_is_unlikely_but_possible():
    model = KneserNey(SENTENCES, 3, WORDS)
    assert np.isfinite(model.log_probability((6, 6, 6)))
    assert model.log_probability((6, 6, 6)) < model.log_probability((2, 3, 4))


def test_no_sentence_makes_no_model():
    with pytest.raises(ValueError, match="at least one sentence"):
        KneserNey([], 3, WORDS)
