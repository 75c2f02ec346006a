"""The rows that Flickr8k's levers compare differ by the lever alone."""

import pytest

from densevse.command.shared import ROOT, configured_project

FILES = [str(ROOT / f"examples/{name}.yaml") for name in ("flickr8k", "flickr8k_cheaper")]
DATASET = "flickr8k_resplit5"


@pytest.fixture(scope="module")
def project():
    return configured_project(FILES)


def test_concepts_of_map_and_crops_differ_by_where_they_are_read(project):
    config = project.config
    rows = [project.variant(DATASET, f"sco_cnp_ctx_{name}") for name in ("map", "crops")]
    heads = [config.concept_networks[row.networks["concepts"]] for row in rows]
    networks = [config.networks[head.network] for head in heads]
    without = {"title", "networks"}
    assert rows[0].model_dump(exclude=without) == rows[1].model_dump(exclude=without)
    assert heads[0].model_dump(exclude={"network"}) == heads[1].model_dump(exclude={"network"})
    assert [head.learns_from for head in heads] == ["regions", "regions"]
    of_input = ("architecture", "local", "mean", "std", "size", "precision")
    assert all(getattr(networks[0], name) == getattr(networks[1], name) for name in of_input)
    assert [network.regions.features for network in networks] == ["roi_align", "crops"]


def test_vse_in_bf16_differs_by_the_precision_alone(project):
    half, plain = (project.variant(DATASET, name) for name in ("vse_bf16", "vse"))
    assert (half.training.cpu_precision, plain.training.cpu_precision) == ("bf16", "float32")
    half = half.model_copy(update={"training": plain.training, "title": plain.title})
    assert half == plain
