"""The layout of sentences that are predicted, against each sentence's own list."""

import numpy as np
import torch

from densevse.kernels.recurrent import teaching
from tests.kernels import definitions

TABLE = np.array([[2, 3, 4, 0], [5, 0, 0, 0], [2, 3, 6, 4]])


def laid_out(taught, row):
    """Pairs of what the sentence reads and predicts, step by step."""
    mine = taught.sentence == row
    return list(zip(taught.tree.distinct[taught.tree.word[mine]].tolist(), taught.target[mine].tolist(), strict=True))


def test_each_sentence_reads_and_predicts_what_the_definition_says():
    taught = teaching(TABLE, TABLE, torch.device("cpu"))
    for row, words in enumerate(TABLE):
        assert laid_out(taught, row) == definitions.predictions(words[words > 0].tolist())


def test_other_words_may_be_read_than_are_predicted():
    read = np.where(TABLE == 3, 7, TABLE)
    taught = teaching(TABLE, read, torch.device("cpu"))
    assert laid_out(taught, 0) == [(0, 2), (2, 3), (7, 4), (4, 0)]
    assert laid_out(taught, 1) == [(0, 5), (5, 0)]
