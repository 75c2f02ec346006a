import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.dag.concepts import Concepts
from densevse.dag.features import Features
from densevse.dag.project import Project
from densevse.dag.proposals import Proposals
from densevse.dag.tables import Tables
from densevse.dag.training import Training
from densevse.runtime.errors import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project():
    return Project(ROOT, {})


def asked(**names):
    return SimpleNamespace(**names)


def test_a_head_looks_at_stored_features_and_a_whole_network_at_its_own_outputs(project):
    concepts = Concepts(project)
    head = concepts.regions(asked(dataset="flickr8k", concept_network="multi_label_head"))
    assert head[0] == "results/flickr8k/features/vgg19/regions-clustered_fast/00-of-04.parquet"
    own = concepts.regions(asked(dataset="flickr30k", concept_network="multi_label_cnn"))
    assert own[0].startswith("results/flickr30k/features/multi_label_cnn/regions-clustered_fast/00-of-")


def test_a_concept_network_is_made_of_the_data_sets_own_network(project):
    concepts = Concepts(project)
    assert concepts.backbone(asked(dataset="flickr8k", concept_network="multi_label_cnn")) == "vgg19"
    assert concepts.backbone(asked(dataset="flickr8k", concept_network="multi_label_scenes")) == "scenes_net"


def test_its_regions_are_described_by_its_scores_with_its_weights(project):
    features, wanted = (
        Features(project),
        asked(dataset="flickr30k", network="multi_label_cnn", proposer="clustered_fast"),
    )
    assert features.weights(wanted) == "results/flickr30k/networks/multi_label_cnn.safetensors"
    assert features.class_names(wanted) == "results/flickr30k/networks/multi_label_cnn_classes.txt"
    network = features.of_regions(wanted)
    assert network["layers"] == {"regions": "classes"}
    assert network["architecture"] == "vgg19"


def test_all_clustered_boxes_become_regions_and_others_are_chosen(project):
    features = Features(project)
    assert features.all_stay(asked(proposer="clustered_fast"))
    assert not features.all_stay(asked(proposer="selective_search_fast"))


def test_a_concept_network_may_look_at_the_regions_that_methods_read(project):
    concepts = Concepts(project)
    regions = concepts.regions(asked(dataset="scenes", concept_network="multi_label_scenes"))
    assert regions == Training(project).inputs(asked(dataset="scenes", variant="hm_lstm"))["view_regions"]


def test_clusters_are_of_another_proposers_boxes(project):
    wanted = asked(dataset="flickr8k", proposer="clustered_fast", shard="00-of-04")
    path = "results/flickr8k/proposals/selective_search_fast/00-of-04.parquet"
    assert Proposals(project).to_cluster(wanted) == path


def test_concepts_are_views_of_a_method(project):
    inputs = Training(project).inputs(asked(dataset="scenes", variant="sco"))
    assert inputs["view_concepts"] == ["results/scenes/features/multi_label_scenes/concepts/00-of-01.parquet"]
    single = Training(project).inputs(asked(dataset="scenes", variant="sco_single_region"))
    assert single["view_concepts_whole"][0].endswith("multi_label_scenes/concepts_whole/00-of-01.parquet")


def test_a_table_says_which_networks_and_proposers_its_concepts_come_from(project):
    plan = Tables(project).plan("sco_flickr8k")
    used = plan.sections[0].measured["sco"].made_with.used
    assert used["network"] == ["multi_label_head", "vgg19"]
    assert used["concept_network"] == ["multi_label_head"]
    assert used["proposer"] == ["clustered_fast", "selective_search_fast"]
    assert plan.configured.settings["concept_network"]["multi_label_head"]["train"] == "head"
    assert "concepts_scenes" in str(Tables(project).of_dataset("scenes"))


def test_a_table_names_the_proposer_that_a_data_sets_regions_are_clustered_from():
    clustered = Project(ROOT, {"datasets": {"flickr8k": {"proposer": "clustered_fast"}}})
    measured = Tables(clustered).plan("hm_lstm_1").sections[0].measured
    assert measured["hm_lstm"].made_with.used["proposer"] == ["clustered_fast", "selective_search_fast"]


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
