import numpy as np
import pytest

from densevse.statistics.bootstrap import interval_of_mean


@pytest.mark.parametrize(("groups", "known"), [(1, False), (9, False), (10, True)])
def test_too_few_groups_give_no_interval_and_no_judgement(groups, known):
    values = np.random.default_rng(0).uniform(1, 2, 40)
    found = interval_of_mean(values, np.arange(40) % groups)
    assert (found.low < values.mean() < found.high) == known
    assert found.excludes_zero == known
