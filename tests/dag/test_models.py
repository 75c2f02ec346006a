"""Concept networks, networks that are trained with a variant, and what needs an extra, in the plan."""

import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.config import environment
from densevse.dag import concepts, features, proposals, training
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tests.rule_values import job_of, paths_of
from tests.rules import input_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project():
    return Project(ROOT, {})


def job(variant, dataset="scenes"):
    return SimpleNamespace(dataset=dataset, variant=variant, seed="0")


def test_a_head_looks_at_stored_features_and_a_whole_network_at_its_own_outputs(project):
    concepts_stage = Stage(project, concepts)
    wanted = {"dataset": "flickr8k", "concept_network": "multi_label_head"}
    head = input_of("train_concept_head", "regions", concepts_stage.regions, **wanted)
    assert head[0] == "results/flickr8k/features/vgg19/regions-clustered_fast/00-of-04.parquet"
    wanted = {"dataset": "flickr30k", "concept_network": "multi_label_cnn", "shard": "01-of-06"}
    own = input_of("score_concepts", "regions", concepts_stage.regions_of_shard, **wanted)
    assert own == "results/flickr30k/features/multi_label_cnn/regions-clustered_fast/01-of-06.parquet"
    assert own in input_of("train_concept_head", "regions", concepts_stage.regions, **wanted)


def test_a_concept_network_is_made_of_the_data_sets_own_network(project):
    assert features.backbone(project, "flickr8k", "multi_label_cnn") == "vgg19"
    assert features.backbone(project, "flickr8k", "multi_label_scenes") == "scenes_net"


def test_its_regions_are_described_by_its_scores_with_its_weights(project):
    features_stage, wanted = Stage(project, features), {"dataset": "flickr30k", "network": "multi_label_cnn"}
    weights = input_of("extract_regions", "weights", features_stage.weights, **wanted)
    assert weights == "results/flickr30k/networks/multi_label_cnn.safetensors"
    classes = input_of("extract_regions", "class_names", features_stage.class_names, **wanted)
    assert classes == "results/flickr30k/networks/multi_label_cnn_classes.txt"
    network = features_stage.region_job(**wanted).settings["network"]
    assert network["layers"] == {"regions": "classes"}
    assert network["architecture"] == "vgg19"


def test_all_clustered_boxes_become_regions_and_others_are_chosen(project):
    features_stage = Stage(project, features)
    assert features_stage.region_job("flickr8k", "vgg19", "clustered_fast").settings["all_stay"]
    assert not features_stage.region_job("flickr8k", "vgg19", "selective_search_fast").settings["all_stay"]
    assert "all_stay" not in features_stage.region_job("scenes", "scenes_net").settings, "true boxes have no proposer"


def test_a_concept_network_may_look_at_the_regions_that_methods_read(project):
    wanted = {"dataset": "scenes", "concept_network": "multi_label_scenes"}
    regions = input_of("train_concept_head", "regions", Stage(project, concepts).regions, **wanted)
    assert regions == Stage(project, training).inputs(job("hm_lstm"))["view_regions"]


def test_clusters_are_of_another_proposers_boxes(project):
    wanted = {"dataset": "flickr8k", "proposer": "clustered_fast", "shard": "00-of-04"}
    path = "results/flickr8k/proposals/selective_search_fast/00-of-04.parquet"
    assert paths_of("cluster_proposals", "proposals", project, **wanted) == path


def test_concepts_are_views_of_a_method(project):
    inputs = Stage(project, training).inputs(job("sco"))
    assert inputs["view_concepts"] == ["results/scenes/features/multi_label_scenes/concepts/00-of-01.parquet"]
    single = Stage(project, training).inputs(job("sco_single_region"))
    assert single["view_concepts_whole"][0].endswith("multi_label_scenes/concepts_whole/00-of-01.parquet")


@pytest.mark.parametrize(
    ("kind", "entry", "change", "wrong"),
    [
        ("concept_networks", "multi_label_head", {"proposer": "clusters"}, "proposer"),
        ("concept_networks", "multi_label_head", {"network": "resnet"}, "network"),
        ("concept_networks", "multi_label_head", {"train": "none"}, "train"),
        ("datasets", "scenes", {"networks": {"concepts": "vgg19"}}, "networks.concepts"),
        ("proposers", "clustered_fast", {"options": {"of": "clustered_fast"}}, "options.of"),
        ("proposers", "clustered_fast", {"options": {"boxes": 0}}, "options"),
    ],
)
def test_what_does_not_fit_is_named(kind, entry, change, wrong):
    with pytest.raises(InputError, match=re.escape(f"{kind}.{entry}.{wrong}")):
        Project(ROOT, {kind: {entry: change}})


def test_crops_are_of_the_regions_that_the_fixed_network_describes(project):
    training_stage = Stage(project, training)
    inputs, fixed = (
        training_stage.inputs(job("defrag_finetuned", "flickr30k")),
        training_stage.inputs(job("defrag", "flickr30k")),
    )
    wanted = {"dataset": "flickr30k", "variant": "defrag_finetuned", "seed": 0}
    regions = input_of("correspondence_accuracy", "regions", training_stage.regions, **wanted)
    assert inputs["view_crops"] == fixed["view_regions"] == regions
    assert {name for name in inputs if name.startswith("source_")} >= {"source_images"}
    assert not [name for name in fixed if name.startswith("source_")]
    assert input_of("train", "network", training_stage.first_weights, dataset="flickr30k", variant="defrag") == []
    network = project.datasets["flickr30k"].networks["regions"]
    first = input_of("train", "network", training_stage.first_weights, **wanted)
    assert [f"/{network}/" in path for path in first] == [True]
    assert "/defrag/" in input_of("train", "start", training_stage.origin, **wanted)


def test_only_jobs_that_read_pixels_depend_on_the_code_that_decodes_them(project):
    training_stage = Stage(project, training)
    pixels = {"densevse.data.views.crops", "densevse.vision.finetuned"}
    assert pixels < set(training_stage.modules("flickr30k", "defrag_finetuned"))
    assert pixels.isdisjoint(training_stage.modules("flickr30k", "defrag"))
    reached = {
        variant: project.code.reached("train.py", *training_stage.modules("flickr30k", variant))
        for variant in ("defrag", "defrag_finetuned")
    }
    assert "densevse/vision/crops.py" in reached["defrag_finetuned"]
    assert not [file for file in reached["defrag"] if file.startswith("densevse/vision/")]


def test_mcg_names_its_extra_where_higra_is_not_installed(monkeypatch):
    project = Project(ROOT, {})
    proposals_stage = Stage(project, proposals)
    monkeypatch.setattr(environment, "find_spec", lambda name: None if name == "higra" else find_spec(name))
    ranker_job = partial(job_of, "learn_ranker", project)
    for job in (partial(proposals_stage.contours_job, dataset="flickr8k"), ranker_job, proposals_stage.mcg_job):
        with pytest.raises(InputError, match=r"proposers\.mcg: MCG needs higra.*`.venv/bin/pip install higra` in"):
            job(proposer="mcg")
    search = proposals_stage.job("flickr8k", "selective_search_fast").settings["proposer"]
    assert search["options"]["mode"] == "fast"
