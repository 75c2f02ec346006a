"""A short form of `make torture`: one of each kind of kill, on the smallest run."""

import pytest

from densevse.config.load import load, variant
from tests.cases import first_now
from tests.projects import ROOT, SMALL
from tests.system.torture import trial
from tests.system.torture.__main__ import LONG

# How -> jobs that have ended a second before.
HARMS = {"SIGKILL of everything": 5, "SIGTERM": 7, "SIGHUP": 6, "SIGKILL of a job": 3}


@pytest.mark.parametrize("harm", first_now(HARMS))
def test_a_disturbed_run_ends_with_the_same_bytes(make_project, finished, harm):
    project = make_project(SMALL)
    outcome = trial.kill_trial(project, harm, trial.Moment(HARMS[harm], 1.0), trial.tables(finished))
    assert outcome.first_exit != 0
    assert outcome.survived, outcome.row()


def test_the_long_trainings_of_the_whole_torture_are_a_valid_configuration():
    config = load(ROOT / "config", LONG)
    for method in ("vse", "hm_lstm"):
        assert variant(config, "scenes", method).training.checkpoint_steps == 1
        assert max(phase.epochs for phase in variant(config, "scenes", method).round_phases(0)) >= 6
