import numpy as np
import pytest
import torch
from torchmetrics.functional.classification import multilabel_average_precision

from densevse.errors import InputError
from densevse.evaluation.average_precision import average_precisions, mean_average_precision


def test_agrees_with_torchmetrics_and_leaves_out_what_no_image_has():
    random = np.random.default_rng(0)
    scores, present = random.random((50, 4)).astype(np.float32), random.random((50, 4)) < 0.3
    present[:, 2] = False
    found = average_precisions(scores, present)
    others = multilabel_average_precision(torch.from_numpy(scores), torch.from_numpy(present).long(), 4, average=None)
    assert np.isnan(found[2])
    assert np.allclose(found[[0, 1, 3]], others[[0, 1, 3]], atol=1e-6)
    assert mean_average_precision(scores, present) == pytest.approx(found[[0, 1, 3]].mean())


def test_one_score_for_all_is_worth_their_frequency():
    present = np.array([[True], [False], [False], [True], [False]])
    assert average_precisions(np.zeros((5, 1)), present) == pytest.approx(0.4)


def test_without_any_positive_there_is_nothing_to_measure():
    with pytest.raises(InputError, match="no image of the split has any of the concepts"):
        mean_average_precision(np.zeros((3, 2)), np.zeros((3, 2), bool))
