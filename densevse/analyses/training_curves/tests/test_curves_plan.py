"""Training curves are planned for all that is trained."""

from densevse.analyses.training_curves.dag import TrainingCurveStage
from densevse.dag.project import Project
from tests.rules import ROOT


def test_a_method_of_which_nothing_is_trained_has_no_curve():
    measured = {"tables": {"flickr8k": {"measure": ["clip"], "reference": None}}}
    assert TrainingCurveStage(Project(ROOT, measured)).of_dataset("flickr8k") == []
