"""A short share of `make newcomer`: the first steps of each morning."""

from itertools import islice

import pytest

from tests.projects import SMALL
from tests.system.newcomer.mornings import changed_configuration, five_commands, new_method, own_data_set

pytestmark = pytest.mark.long


@pytest.mark.parametrize("morning", [five_commands, own_data_set])
def test_a_data_set_of_one_s_own(make_project, morning):
    assert len(list(islice(morning(make_project({}), seed=1), 2))) == 2


@pytest.mark.parametrize("morning", [new_method, changed_configuration])
def test_a_finished_run_and_something_new(finished, tmp_path, morning):
    project = finished.copy(tmp_path / "project", SMALL)
    assert len(list(islice(morning(project, seed=1), 2))) == 2
