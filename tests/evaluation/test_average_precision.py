import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.metrics import average_precision_score
from torchmetrics.functional.classification import multilabel_average_precision

from densevse.evaluation.average_precision import (
    average_precisions,
    mean_average_precision,
    weighted_average_precisions,
)
from densevse.statistics.bootstrap import jackknife_interval, jackknife_weights
from snakeproof.errors import InputError


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


def test_of_sets_of_images_it_is_that_of_images_with_weights():
    random = np.random.default_rng(1)
    scores, present = random.integers(6, size=(30, 3)) / 5, random.random((30, 3)) < 0.3  # with many equal scores
    sets = random.multinomial(30, np.full(30, 1 / 30), size=4)
    sets[0], sets[1, present[:, 1]] = 1, 0
    found = weighted_average_precisions(scores, present, sets)
    assert np.allclose(found[0], average_precisions(scores, present))
    assert np.isnan(found[1, 1])
    expected = [average_precision_score(present[:, 0], scores[:, 0], sample_weight=weights) for weights in sets]
    assert np.allclose(found[:, 0], expected)


def test_a_jackknife_of_a_mean_is_its_classic_interval():
    values = np.random.default_rng(2).normal(size=12)
    without_one = (values.sum() - values) / (len(values) - 1)
    classic = stats.t(len(values) - 1, values.mean(), stats.sem(values)).interval(0.95)
    assert jackknife_interval(np.append(values.mean(), without_one)) == pytest.approx(classic)


def test_jackknife_intervals_hold_what_a_test_set_of_the_size_gives():
    random, images = np.random.default_rng(3), 150
    sets = jackknife_weights(np.arange(images))
    metrics, intervals = [], []
    for _ in range(80):
        present = random.random((images, 6)) < 0.15
        score = random.normal(size=(images, 6)) + present + random.normal(scale=0.5, size=(images, 1))
        better, worse = (
            weighted_average_precisions(given, present, sets).mean(axis=1)
            for given in (score, score + random.normal(scale=0.7, size=score.shape))
        )
        gain = better - worse
        metrics.append(gain[0])
        intervals.append(jackknife_interval(gain))
    assert np.mean([low <= np.mean(metrics) <= high for low, high in intervals]) >= 0.88  # 0.95, and 80 trials
