"""The writers and metrics that a table of generated captions compares."""

from pathlib import Path

import pytest

from densevse.analyses.caption_scores import dag
from densevse.analyses.caption_scores.settings import CaptionOracleMeansPlan, CaptionOraclePlan
from densevse.dag import generators
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tests.rule_values import paths_of
from tests.rules import input_of

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def captions():
    return Stage(Project(ROOT, {}), dag)


def test_a_table_compares_generators_with_copied_and_peoples_sentences(captions):
    scores = paths_of("caption_table", "scores", captions.project, dataset="flickr8k")
    assert scores[0] == "results/flickr8k/generated_captions/sc_nlm/seed0/test_scores.parquet"
    names = [Path(path).parts[3] for path in scores]
    assert names == ["sc_nlm", "mlbl", "lbl", "lstm_captioner", "copied", "person"]


def test_trials_of_sc_nlm_are_rows_of_one_table_alone(captions):
    trials = {"sc_nlm_four_tags", "sc_nlm_standardised", "sc_nlm_four_tags_standardised"}
    with_trials = [name for name in captions.project.config.datasets if trials & captions.compared_writers(name).keys()]
    assert with_trials == ["flickr8k_resplit2"]
    assert captions.compared_writers("flickr8k_resplit2").keys() == {"sc_nlm", *trials, "mlbl", "copied", "person"}


def test_oracles_are_compared_with_the_row_without_and_with_the_reference(captions):
    plan = CaptionOraclePlan.model_validate(captions.oracle_table_job("scenes").settings["plan"])
    rows = {row.writer: row for row in plan.rows}
    assert rows["sc_nlm_none_translation"].without_oracle is None
    assert rows["mlbl_content_best"].without_oracle == "mlbl_none_translation"
    assert rows["mlbl_content_best"].beside == "sc_nlm_content_best"
    assert {row.beside for name, row in rows.items() if name.startswith("sc_nlm")} == {None}
    assert rows["copied"].beside == rows["person"].beside == "sc_nlm_none_translation"
    parts = ("tags", "tags_and_content")
    assert [name for name in rows if "tags" in name] == [f"sc_nlm_{part}_translation" for part in parts]
    scores = input_of("caption_oracle_table", "scores", captions.measured_oracles, dataset="scenes")
    assert len(scores) == len(rows)
    assert captions.scoring_job("flickr8k", "mlbl_none_best").settings == {"metrics": ["bleu", "cider"]}


def test_an_oracle_chooses_among_the_sentences_of_its_settings():
    project = Project(ROOT, {"caption_scores": {"scenes": {"oracles": {"sentences": 7}}}})
    settings, modules, _ = Stage(project, dag).oracle_job("scenes", "sc_nlm", 3)
    usual = Stage(project, generators).captions_job("scenes", "sc_nlm", 3)
    job = usual.settings["job"]
    assert job["decoding"]["kept"] != 7
    assert settings == {"job": {**job, "decoding": {**job["decoding"], "kept": 7}}}
    assert modules == usual.modules


def test_resplits_of_a_data_set_have_means_of_their_oracles(captions):
    assert captions.divided_datasets() == "flickr8k"
    plan = CaptionOracleMeansPlan.model_validate(captions.oracle_means_job("flickr8k").settings["plan"])
    assert [each.dataset for each in plan.resplits] == [f"flickr8k_resplit{seed}" for seed in range(5)]
    assert (plan.train, plan.test) == (5500, 1000)
    scores = input_of("caption_oracle_means", "scores", captions.measured_resplits, dataset="flickr8k")
    assert len(scores) == 5 * len(plan.resplits[0].rows)
    assert "results/flickr8k_resplit4/generated_captions/copied/seed0/test_scores.parquet" in scores


def means_on_resplits(b, **overrides):
    """The plan for two resplits of scenes."""
    sizes = {"of": "scenes", "train": 40, "val": 12, "test": 20}
    resplits = {"a": {**sizes, "seed": 0}, "b": {**sizes, **b}}
    datasets = {name: {"title": name, "resplit": resplit} for name, resplit in resplits.items()}
    stage = Stage(Project(ROOT, {"datasets": datasets, **overrides}), dag)
    return CaptionOracleMeansPlan.model_validate(stage.oracle_means_job("scenes").settings["plan"])


def test_resplits_that_are_no_repetition_of_one_experiment_have_no_means():
    assert len(means_on_resplits({"seed": 1}).resplits) == 2
    with pytest.raises(InputError, match=r"datasets: a, b have other sizes in resplit"):
        means_on_resplits({"seed": 1, "train": 41})
    with pytest.raises(InputError, match=r"datasets\.b\.resplit\.seed: a has the same one"):
        means_on_resplits({"seed": 0})
    with pytest.raises(InputError, match=r"caption_scores\.b\.oracles: its seeds, its sentences or the settings"):
        means_on_resplits({"seed": 1}, caption_scores={"b": {"oracles": {"sentences": 7}}})
    with pytest.raises(InputError, match=r"caption_scores\.b\.oracles: its seeds, its sentences or the settings"):
        means_on_resplits({"seed": 1}, caption_scores={"b": {"oracles": {"seeds": [3]}}})
    other = {"sc_nlm": {"datasets": {"b": {"parameters": {"dropout": 0.1}}}}}
    with pytest.raises(InputError, match=r"caption_scores\.b\.oracles: its seeds, its sentences or the settings"):
        means_on_resplits({"seed": 1}, generators=other)


def test_means_have_the_rows_that_all_resplits_have():
    fewer = {"b": {"oracles": {"generators": {"sc_nlm": ["tags"], "mlbl": []}}}}
    plan = means_on_resplits({"seed": 1}, caption_scores=fewer)
    one, other = ([row.writer for row in each.rows] for each in plan.resplits)
    assert one == other
    assert {"sc_nlm_tags_translation", "mlbl_none_best", "copied"} <= set(one)
    assert not [name for name in one if "content" in name]


def test_metrics_that_need_java_are_left_out_without_it(captions, monkeypatch):
    def spice():
        return input_of("score_captions", "spice", captions.needs_spice, dataset="flickr8k", writer="sc_nlm")

    def metrics(dataset):
        return captions.scoring_job(dataset, "sc_nlm").settings["metrics"]

    monkeypatch.setattr("shutil.which", lambda program: f"/usr/bin/{program}")
    assert metrics("flickr8k") == ["bleu", "rouge_l", "cider", "meteor", "spice"]
    assert spice() == "resources/spice"
    monkeypatch.setattr("shutil.which", lambda program: None)
    assert metrics("flickr8k") == ["bleu", "rouge_l", "cider"]
    assert spice() == []
    assert metrics("scenes") == ["bleu", "rouge_l", "cider"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"generators": ["nic"]}, r"caption_scores\.scenes\.generators"),
        ({"reference": "lbl"}, r"caption_scores\.scenes\.reference"),
        ({"oracles": {"generators": {"nic": ["tags"]}}}, r"caption_scores\.scenes\.oracles\.generators: no 'nic'"),
        ({"oracles": {"generators": {"sc_nlm": ["words"]}}}, r"caption_scores\.scenes\.oracles\.generators\.sc_nlm"),
        ({"oracles": {"reference": "lbl"}}, r"caption_scores\.scenes\.oracles\.reference: no 'lbl'"),
    ],
)
def test_wrong_entries_are_refused_by_their_path(wrong, message):
    with pytest.raises(InputError, match=message):
        Project(ROOT, {"caption_scores": {"scenes": wrong}})
