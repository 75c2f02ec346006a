"""`make feature-scales` on the miniature data set; and no method's first loss depends on the scale of features."""

from pathlib import Path

import numpy as np
import pytest
import torch

from densevse.config.load import variant
from densevse.config.training import NamedPhase
from densevse.dag.project import Project
from densevse.methods.interface import Moment
from densevse.training.retrieval import prepare_task
from snakeproof.errors import InputError
from tests.device.conftest import made
from tests.device.files import files_of
from tests.device.test_methods import CLOSED, CONFIG, METHODS, job_of
from tools.feature_scales import Outcome, ScaledInputs, Trial, run_trial, shorten_phases
from tools.feature_scales import trial_job as trial_job

__all__ = ["made"]

SETTINGS_OF = "flickr30k"  # the defaults, without changes for any data
PAIRS = 24  # all of train: over few images, batch normalisation has variances near its epsilon


def files_and_job(made, name):
    entry = variant(CONFIG, SETTINGS_OF, name)
    files = files_of(made, entry.views, entry.sentences, entry.dependencies, entry.word_vectors)
    return files, job_of(entry)


def first_loss(files, job, scale):
    torch.manual_seed(0)
    task = prepare_task(job, ScaledInputs(files, job.sentences, scale))
    torch.manual_seed(1)
    return task.loss(task.batch(np.arange(PAIRS), 1), Moment(1, "first", task.parameters)).item()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*(name for name in METHODS if name not in CLOSED), "vsepp", "order"])
def test_the_first_loss_does_not_depend_on_the_scale_of_features(made, name):
    files, job = files_and_job(made, name)
    expected = first_loss(files, job, 1.0)
    for scale in (0.1, 10.0):
        assert first_loss(files, job, scale) == pytest.approx(expected, rel=0.02), scale


def test_a_trial_has_the_course_of_its_training(made):
    files, job = files_and_job(made, "devise")
    job = job.model_copy(update={"phases": [NamedPhase(name="main", epochs=2, learning_rate=0.01)]})
    found = run_trial(files, job, 10.0)
    assert len(found.losses) == len(found.rsums) == 2
    assert np.isfinite(found.losses).all()
    assert -1 <= found.alike <= 1
    assert found.steps % 2 == 0


def test_a_loss_that_is_no_number_is_a_divergence(made):
    files, job = files_and_job(made, "devise")
    training = job.training.model_copy(update={"grad_clip": None})
    phases = [NamedPhase(name="main", epochs=3, learning_rate=1e38)]
    job = job.model_copy(update={"training": training, "phases": phases})
    found = run_trial(files, job, 1.0)
    assert found.verdict == "diverges"
    assert "training diverged" in found.error


def test_a_variant_without_phases_is_refused():
    project = Project(Path(__file__).parents[2], {})
    with pytest.raises(InputError, match="cca: its round 0 has no phases"):
        trial_job(project, Trial("cca", 1.0, PAIRS))


def test_a_training_that_ranks_by_chance_has_collapsed():
    course = {"losses": [1.0], "chance": 13.0, "steps": 1, "alike": 0.5}
    assert Outcome(rsums=[90.0, 20.0], **course).verdict == "collapses"
    assert Outcome(rsums=[20.0, 90.0], **course).verdict == "learns"


def test_the_first_epochs_of_a_round():
    phases = [NamedPhase(name=name, epochs=2, learning_rate=0.1) for name in ("warm_up", "main", "settle")]
    assert [(phase.name, phase.epochs) for phase in shorten_phases(phases, 3)] == [("warm_up", 2), ("main", 1)]
