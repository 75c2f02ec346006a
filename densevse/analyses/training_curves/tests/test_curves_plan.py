"""Training curves are planned for all that is trained."""

from densevse.analyses.training_curves.dag import TrainingCurveStage
from densevse.dag.project import Project
from tests.rules import ROOT, input_of


def test_a_method_of_which_nothing_is_trained_has_no_curve():
    measured = {"tables": {"flickr8k": {"measure": ["clip"], "reference": None}}}
    assert TrainingCurveStage(Project(ROOT, measured)).of_dataset("flickr8k") == []


def test_a_picture_has_every_seed_and_the_variant_that_each_round_is_of():
    overrides = {
        "datasets": {"scenes": {"seeds": [3, 1]}},
        "tables": {"scenes": {"measure": ["vse", "hm_lstm_uniform"], "reference": None}},
    }
    curves = TrainingCurveStage(Project(ROOT, overrides))
    rounds = ["hm_lstm", "hm_lstm_uniform", "hm_lstm_uniform"]
    expected = {"vse": {"seeds": [3, 1], "rounds": ["vse"]}, "hm_lstm_uniform": {"seeds": [3, 1], "rounds": rounds}}
    assert curves.job("scenes").settings == {"title": "Scenes", "dataset": "scenes", "variants": expected}
    histories = input_of("training_curves", "histories", curves.histories, dataset="scenes")
    assert len(histories) == 2 + 2 * 3
    assert "results/scenes/models/hm_lstm/seed1/round0/history.parquet" in histories
