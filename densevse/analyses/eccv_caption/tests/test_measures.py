"""Measures of a query, by hand."""

import numpy as np

from densevse.analyses.eccv_caption.table import AnswerLists


def hits_of(scores, answers, found=(7, 8, 9, 10, 11)):
    lists = AnswerLists({3: 0}, np.array([found]), np.array([scores], np.float32))
    return lists.hits(3, answers).tolist()


def test_an_answer_that_a_list_does_not_have_has_no_rank():
    lists = AnswerLists({3: 0, 4: 1}, np.array([[7, 8, 9], [9, 8, 7]]), np.array([[3, 2, 1]] * 2, np.float32))
    found = lists.ranks({4: [7, 8], 3: [7]})
    assert found.query.tolist() == [0, 0, 1]
    assert found.rank.tolist() == [2, np.inf, 1]


def test_hits_stand_where_the_list_has_them():
    assert hits_of([5, 4, 3, 2, 1], [8, 10]) == [False, True, False, True, False]


def test_a_tie_is_no_hit():
    assert hits_of([5, 5, 3, 2, 1], [7]) == [False, True, False, False, False]
    assert hits_of([5, 5, 5, 5, 1], [7, 8]) == [False, False, True, True, False]


def test_what_scores_as_the_last_is_no_hit_as_others_beyond_it_may_too():
    assert hits_of([5, 4, 1, 1, 1], [7, 9, 11]) == [True, False, False, False, False]
