import numpy as np
import pytest

from densevse.statistics.bootstrap import drawn_statistics, interval_of, interval_of_mean, jackknife_weights
from densevse.statistics.intervals import SumBootstrap


@pytest.mark.parametrize(("groups", "known"), [(1, False), (9, False), (10, True)])
def test_too_few_groups_give_no_interval_and_no_judgement(groups, known):
    values = np.random.default_rng(0).uniform(1, 2, 40)
    found = interval_of_mean(values, np.arange(40) % groups)
    assert (found.low < values.mean() < found.high) == known
    assert found.excludes_zero == known


@pytest.mark.parametrize(("groups", "known"), [(9, False), (10, True), (30, True)])
def test_a_statistic_of_rows_has_the_interval_of_the_same_mean(groups, known):
    values, of = np.random.default_rng(1).normal(5, 1, 60), [f"g{n % groups}" for n in range(60)]
    found = interval_of(drawn_statistics(lambda rows: float(values[rows].mean()), of, 3000))
    assert np.isnan(found).all() != known
    if known:
        assert found == pytest.approx(interval_of_mean(values, of), abs=0.03)


def test_a_mean_of_sums_has_the_interval_of_a_mean():
    values, groups = np.random.default_rng(2).uniform(0, 1, 60), np.arange(60) // 3
    bootstrap = SumBootstrap(groups)
    found = bootstrap.replicates([values], lambda run, sums: {"mean": sums(run) / sums(np.ones(60))})
    assert found.by_seed["mean"].tolist() == pytest.approx([values.mean()])
    assert bootstrap.interval("mean", found) == pytest.approx(interval_of_mean(values, groups))


def test_each_group_is_left_out_once():
    weights = jackknife_weights(np.array([0, 1, 0, 2]))
    assert weights.tolist() == [[1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 0]]
