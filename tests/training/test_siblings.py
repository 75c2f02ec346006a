"""The other sentences of an image that join each sentence of a batch."""

import numpy as np
import pytest

from densevse.training.retrieval import add_siblings

IMAGE_OF_CAPTION = np.repeat(np.arange(4), [5, 1, 3, 2])


def joined(examples, number, epoch=1):
    found = add_siblings(np.array(examples), number, IMAGE_OF_CAPTION, epoch).tolist()
    assert len(found) == len(set(found))
    assert set(examples) <= set(found)
    assert set(IMAGE_OF_CAPTION[found]) == set(IMAGE_OF_CAPTION[examples])
    return set(found) - set(examples)


@pytest.mark.parametrize(("number", "expected"), [(0, 0), (1, 1), (2, 2), (4, 4), (9, 4)])
def test_each_sentence_is_joined_by_so_many_others_of_its_image(number, expected):
    assert len(joined([2], number)) == expected


def test_an_image_with_fewer_sentences_gives_those_that_it_has():
    assert joined([5, 9], 2) == {10}
    assert joined([5], 1) == set()


def test_epochs_take_all_others_in_turn():
    assert set.union(*(joined([2], 1, epoch) for epoch in range(1, 5))) == {0, 1, 3, 4}


def test_without_siblings_the_order_stays():
    assert add_siblings(np.array([7, 0, 3]), 0, IMAGE_OF_CAPTION, 1).tolist() == [7, 0, 3]
