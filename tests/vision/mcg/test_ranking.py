"""The forest against scikit-learn's own, maximum marginal relevance against its definition, whole images end to end."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from densevse.artifacts.boxes import intersection_over_union
from densevse.vision.mcg.candidates import candidates
from densevse.vision.mcg.forest import Ranker, fold, grow_forest, load_ranker, save_ranker
from densevse.vision.mcg.hierarchy import hierarchies
from densevse.vision.mcg.proposing import diversify, propose
from snakeproof.errors import InputError
from tests.vision.mcg.pictures import masks, noise

COUNTS = [[40] * 3, [30] * 3, [20] * 3, [20] * 3]


@pytest.fixture(scope="module")
def sample():
    random = np.random.default_rng(0)
    rows = random.random((500, 16), np.float32)
    return rows, (rows[:, 3] * rows[:, 7] + 0.1 * random.random(500)).astype(np.float32)


@pytest.fixture(scope="module")
def forest(sample):
    return grow_forest(*sample, trees=5, leaf=4, seed=1)


def test_a_forest_predicts_what_scikit_learn_does(sample, forest):
    same = RandomForestRegressor(5, max_features=1 / 3, min_samples_leaf=4, random_state=1).fit(*sample)
    unseen = np.random.default_rng(2).random((300, 16), np.float32)
    assert forest.predict(unseen) == pytest.approx(same.predict(unseen), abs=1e-6)


def test_a_ranker_is_read_as_it_was_written(forest, sample, tmp_path):
    other = grow_forest(*sample, trees=2, leaf=9, seed=2)
    save_ranker(Ranker([forest, other]), tmp_path / "ranker.safetensors")
    read = load_ranker(tmp_path / "ranker.safetensors")
    for expected, got in zip([forest, other], read.forests, strict=True):
        assert (got.predict(sample[0]) == expected.predict(sample[0])).all()


def test_each_image_has_the_forest_of_its_fold(forest):
    ranker = Ranker([forest] * 3)
    assert {fold(str(number), 3) for number in range(50)} == {0, 1, 2}
    assert all(ranker.forest(str(number)) is ranker.forests[fold(str(number), 3)] for number in range(50))


def test_what_is_no_forest_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_ranker(tmp_path / "none.safetensors")
    (tmp_path / "cut.safetensors").write_bytes(b"12")
    with pytest.raises(InputError, match="not a whole safetensors file"):
        load_ranker(tmp_path / "cut.safetensors")


@pytest.mark.parametrize("most", [1, 25, 10_000])
def test_each_choice_is_the_most_relevant_that_is_left(most):
    found = hierarchies([noise(48, 60), noise(48, 60, 1, 6)], 10_000)
    formed = candidates(found, COUNTS)
    qualities = np.random.default_rng(0).random(len(formed), np.float32).round(1)
    order, values = diversify(formed, qualities, found.superpixels.areas, most)
    drawn = masks(formed, found.superpixels).reshape(len(formed), -1).astype(np.float64)
    shared = drawn @ drawn.T
    jaccard = shared / (formed.areas[:, None] + formed.areas[None] - shared)
    assert len(order) == len(set(order.tolist())) == min(most, len(formed))
    overlap = np.zeros(len(formed))
    for number, value in zip(order, values, strict=True):
        relevance = 0.7 * qualities - 0.3 * overlap
        assert relevance[number] == pytest.approx(relevance.max(), abs=1e-6)
        assert value == pytest.approx(relevance[number], abs=1e-6)
        qualities[number] = -9
        overlap = np.maximum(overlap, jaccard[number])


def test_proposals_are_ranked_apart_and_reproducible(forest):
    contours = [noise(48, 60), noise(48, 60, 1, 6)]
    found, again = (propose(contours, COUNTS, forest, 1000, 500) for _ in range(2))
    assert (found.scores[1:] <= found.scores[:-1]).all()
    boxes = found.boxes(96, 120)
    assert (boxes == again.boxes(96, 120)).all()
    between = intersection_over_union(boxes[:, None], boxes[None]) - np.eye(len(boxes))
    assert between.max() <= 0.95
    assert (boxes[:, 2:] >= 2).all()
    assert ((boxes[:, :2] + boxes[:, 2:]) <= [120, 96]).all()


@pytest.mark.parametrize("shape", [(1, 1), (2, 20_000), (40, 40)])
def test_a_flat_image_has_itself_as_its_proposal(forest, shape):
    found = propose([np.zeros(shape, np.uint8)] * 3, [[5] * 4] * 4, forest, 100, 50)
    assert found.boxes(*shape).tolist() == [[0, 0, shape[1], shape[0]]]
