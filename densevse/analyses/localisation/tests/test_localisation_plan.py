"""The inputs of localisation, and the variants and data sets that it refuses."""

from pathlib import Path

import pytest

from densevse.analyses.localisation import dag
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tests.rule_values import job_of, paths_of
from tests.rules import input_of

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("project"))
        return Stage(Project(ROOT, {"localisation": {"coco": {"sides": [0.3], "images": 7}}}), dag)


def windows(plan, dataset="scenes", variant="vse"):
    return input_of("localise", "windows", plan.windows, dataset=dataset, variant=variant)


def heat_maps(plan, dataset="scenes", variant="vse"):
    return paths_of("localisation_table", "heat_maps", plan.project, dataset=dataset, variant=variant)


def test_a_variant_s_windows_are_those_of_its_view_and_network(plan):
    assert windows(plan) == "results/scenes/windows/scenes_net/whole.parquet"
    assert windows(plan, variant="vse_centre_crop") == "results/scenes/windows/scenes_net/centre.parquet"
    assert windows(plan, "coco", "vse_alexnet") == "results/coco/windows/alexnet/whole.parquet"
    assert heat_maps(plan) == "results/scenes/localisation/vse/seed0/round0/test.parquet"


@pytest.mark.parametrize("variant", ["hm_lstm", "sm_lstm", "defrag", "sco"])
def test_a_variant_that_reads_more_than_one_vector_and_words_is_refused_by_name(plan, variant):
    with pytest.raises(InputError, match=rf"localisation: {variant} reads .*Name another variant, such as vse"):
        plan.windows("scenes", variant)


def test_a_data_set_without_true_boxes_is_refused_by_name(plan):
    assert input_of("localise", "boxes", plan.boxes, dataset="coco") == "results/coco/boxes.parquet"
    with pytest.raises(InputError, match=r"flickr8k has no true boxes .* give some as datasets\.flickr8k\.boxes"):
        plan.boxes("flickr8k")


def test_a_model_of_another_data_set_comes_with_its_vocabulary_and_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project = Project(ROOT, {"localisation": {"coco": {"trained_on": "scenes"}}})
    plan, vse = Stage(project, dag), {"dataset": "coco", "variant": "vse", "seed": 0, "round": 0}
    model = paths_of("localise", "model", project, **vse)
    assert model == "results/scenes/models/vse/seed0/round0/model.safetensors"
    assert paths_of("localise", "words", project, **vse) == "results/scenes/vocabulary/words.parquet"
    assert windows(plan, "coco") == "results/coco/windows/scenes_net/whole.parquet"
    assert heat_maps(plan, "coco") == "results/coco/localisation/vse/seed0/round0/test.parquet"
    for rule in ("extract_windows", "localise", "localisation_figure"):
        assert input_of(rule, "boxes", plan.boxes, **vse) == "results/coco/boxes.parquet"
    title = "VSE (vse, trained on Scenes) on MS-COCO"
    assert job_of("localisation_figure", project, **vse).settings["title"] == title
    assert job_of("localisation_table", project, **vse).settings == {"title": f"Localisation of phrases: {title}"}


def test_a_data_set_that_there_is_none_of_is_refused_by_its_path():
    with pytest.raises(InputError, match=r"localisation\.coco\.trained_on: no 'nowhere'; known: coco"):
        Project(ROOT, {"localisation": {"coco": {"trained_on": "nowhere"}}})


def test_how_windows_are_chosen_is_configuration(plan):
    given = plan.windows_job("coco", "alexnet", "whole")
    assert given.settings["chosen"] == {"images": 7, "sides": [0.3], "stride": 0.5}
    assert given.settings["network"]["architecture"] == "alexnet"
    assert "densevse.vision.views.whole" in given.modules


def test_heat_maps_are_given_their_cells_and_the_modules_of_their_method(plan):
    settings, modules, _ = plan.localise_job("coco", "vse")
    assert settings["cells"] == 24
    assert "densevse.methods.vse" in modules
