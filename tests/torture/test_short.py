"""A short form of `make torture`: one of each kind of kill, on the smallest run."""

import pytest

from tests.projects import SMALL
from tests.torture import trial


@pytest.mark.parametrize(
    ("harm", "share"), [("SIGKILL of everything", 0.6), ("SIGTERM", 0.75), ("SIGKILL of a job", 0.5)]
)
def test_a_disturbed_run_ends_with_the_same_bytes(make_project, finished, harm, share):
    project = make_project(SMALL)
    outcome = trial.kill_trial(project, harm, share * finished.seconds, trial.tables(finished))
    assert outcome.survived, outcome.row()
