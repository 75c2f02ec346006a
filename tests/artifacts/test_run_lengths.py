"""Run lengths against the masks that they encode."""

import numpy as np
import pytest

from densevse.artifacts.run_lengths import decode, encode


def drawn(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((7, 9)) < 0.5


@pytest.mark.parametrize("mask", [drawn(0), drawn(1), np.ones((2, 3), bool), np.zeros((3, 2), bool)])
def test_a_mask_is_decoded_as_it_was_encoded(mask):
    assert (decode(encode(mask), *mask.shape) == mask).all()


def test_the_first_run_is_outside_and_columns_come_first():
    assert encode(np.array([[1, 0], [1, 1]], bool)).tolist() == [0, 2, 1, 1]
    assert encode(np.array([[0, 0], [1, 1]], bool)).tolist() == [1, 1, 1, 1]
