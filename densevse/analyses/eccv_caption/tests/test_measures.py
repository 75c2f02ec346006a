"""Measures of a query, by hand."""

import numpy as np
import pytest

from densevse.analyses.eccv_caption.table import AnswerLists, precisions, recalls


def hits_of(scores, answers, found=(7, 8, 9, 10, 11)):
    lists = AnswerLists({3: 0}, np.array([found]), np.array([scores], np.float32))
    return lists.hits(3, answers).tolist()


def test_precisions_by_hand():
    """R = 3, hits at places 1 and 3: precisions 1 and 2/3 there, and nothing at place 2."""
    mean, rprecision, first = precisions(np.array([True, False, True, True, False]), 3)
    assert mean == pytest.approx((1 + 2 / 3) / 3)
    assert rprecision == pytest.approx(2 / 3)
    assert first == 1


def test_recalls_by_hand():
    assert recalls(np.arange(50) == 4, 2) == (0, 1, 1)
    assert recalls(np.arange(50) == 10, 2) == (0, 0, 0)


def test_hits_stand_where_the_list_has_them():
    assert hits_of([5, 4, 3, 2, 1], [8, 10]) == [False, True, False, True, False]


def test_a_tie_is_no_hit():
    assert hits_of([5, 5, 3, 2, 1], [7]) == [False, True, False, False, False]
    assert hits_of([5, 5, 5, 5, 1], [7, 8]) == [False, False, True, True, False]


def test_what_scores_as_the_last_is_no_hit_as_others_beyond_it_may_too():
    assert hits_of([5, 4, 1, 1, 1], [7, 9, 11]) == [True, False, False, False, False]
