"""`densevse.evaluate`: the metrics of scores in a program."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import densevse
from densevse.evaluation.ranks import evaluate, metrics
from snakeproof.errors import InputError
from tests.evaluation.vsepp_and_scan import i2t_of_scan, t2i_of_scan

SCORES = np.random.default_rng(0).normal(size=(20, 100)).astype(np.float32)
IMAGES = np.arange(100) // 5


def test_metrics_are_those_of_ranks():
    ranks = evaluate(lambda i, j: torch.from_numpy(SCORES[i, j]), torch.from_numpy(IMAGES), 20)
    found = densevse.evaluate(SCORES, IMAGES)
    assert {key: found[key] for key in metrics(ranks)} == pytest.approx(metrics(ranks))
    assert (found["i2t_r1"], found["t2i_r1"]) == pytest.approx((i2t_of_scan(SCORES)[0], t2i_of_scan(SCORES)[0]))
    assert densevse.evaluate(torch.from_numpy(SCORES), IMAGES.tolist()) == found


def test_sentences_may_stand_in_any_order():
    order = np.random.default_rng(1).permutation(100)
    assert densevse.evaluate(SCORES[:, order], IMAGES[order]) == densevse.evaluate(SCORES, IMAGES)


def test_protocols_are_those_of_tables():
    fifths = [densevse.evaluate(SCORES[4 * n : 4 * n + 4, 20 * n : 20 * n + 20], IMAGES[:20]) for n in range(5)]
    expected = np.mean([one["rsum"] for one in fifths])
    assert densevse.evaluate(SCORES, IMAGES, protocol="five_folds")["rsum"] == pytest.approx(expected)
    first = densevse.evaluate(SCORES[:, ::5], np.arange(20))
    assert densevse.evaluate(SCORES, IMAGES, protocol="hodosh") == first
    with pytest.raises(InputError, match="no 'random_1000' without ids; known: full, five_folds, first_1000, hodosh"):
        densevse.evaluate(SCORES, IMAGES, protocol="random_1000")


def test_rsum_of_five_folds_is_the_sum_of_six_mean_recalls():
    found = densevse.evaluate(SCORES, IMAGES, protocol="five_folds")
    i2t, t2i = (sum(found[f"{direction}_r{k}"] for k in (1, 5, 10)) for direction in ("i2t", "t2i"))
    assert found["rsum"] == pytest.approx(i2t + t2i)
    assert abs(found["rsum"] - 2 * i2t) > 1, "VSE++ and SCAN print that"


def test_ties_are_counted():
    scores = SCORES.copy()
    scores[0, :] = scores[0, 0]
    found = densevse.evaluate(scores, IMAGES)
    assert (found["i2t_ties"], found["t2i_ties"]) == (1, 0)
    assert densevse.evaluate(np.zeros((20, 100)), IMAGES)["t2i_ties"] == 100


@pytest.mark.parametrize(
    ("scores", "images", "message"),
    [
        (SCORES, IMAGES[:-1], r"image_of_sentence: expected 100 whole numbers, .* found int64 of shape \(99,\)"),
        (SCORES, IMAGES / 1.0, "expected 100 whole numbers, .* found float64"),
        (SCORES, IMAGES + 1, "sentence 95 is of image 20, and scores are of the images 0 to 19"),
        (SCORES.T, IMAGES, "image_of_sentence: expected 20 whole numbers"),
        (np.where(SCORES[3, 4] == SCORES, np.nan, SCORES), IMAGES, "scores: row 3, column 4 is not a number"),
        (SCORES.astype(int), IMAGES, "scores: expected floats, found int64"),
        (torch.from_numpy(SCORES * 1000).long(), IMAGES, "scores: expected floats, found int64"),
        (torch.from_numpy(SCORES > 0), IMAGES, "scores: expected floats, found bool"),
        (np.ma.masked_where(SCORES[3, 4] == SCORES, SCORES), IMAGES, r"scores: the number at \[3, 4\] is masked"),
        (SCORES, np.ma.masked_equal(IMAGES, 7), "image_of_sentence: a number is masked"),
    ],
)
def test_what_does_not_fit_is_refused(scores, images, message):
    with pytest.raises(InputError, match=message):
        densevse.evaluate(scores, images)


def test_any_type_of_floats_is_ranked():
    scores = torch.from_numpy(SCORES)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        assert densevse.evaluate(scores.to(dtype), IMAGES) == densevse.evaluate(
            scores.to(dtype).double().numpy(), IMAGES
        )
    assert densevse.evaluate(np.ma.masked_array(SCORES), IMAGES) == densevse.evaluate(SCORES, IMAGES)
    assert densevse.evaluate(1 + 1e-9 * scores.double(), IMAGES) == densevse.evaluate(SCORES, IMAGES)


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, densevse; assert not {'torch', 'numpy', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'evaluated'"):
        densevse.evaluated  # noqa: B018
