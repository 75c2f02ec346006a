"""What a variant reads that is trained with its network: pixels of regions, and the network's first weights."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.analyses.searches.dag import Searches
from densevse.dag.project import Project
from densevse.dag.training import Training

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path):
    search = {
        "dataset": "flickr30k",
        "variant": "defrag_finetuned",
        "photographs": str(tmp_path),
        "sentences": ["a dog"],
    }
    return Project(ROOT, {"searches": {"mine": search}})


def job(variant, dataset="flickr30k"):
    return SimpleNamespace(dataset=dataset, variant=variant, seed=0)


def test_crops_are_of_the_regions_that_the_fixed_network_describes(project):
    training = Training(project)
    inputs, fixed = training.inputs(job("defrag_finetuned")), training.inputs(job("defrag"))
    assert inputs["view_crops"] == fixed["view_regions"] == training.regions(job("defrag_finetuned"))
    assert {name for name in inputs if name.startswith("source_")} >= {"source_images"}
    assert not [name for name in fixed if name.startswith("source_")]
    assert training.network(job("defrag")) == []
    network = project.datasets["flickr30k"].networks["regions"]
    assert [f"/{network}/" in path for path in training.network(job("defrag_finetuned"))] == [True]
    assert "/defrag/" in training.origin(job("defrag_finetuned"))


def test_only_jobs_that_read_pixels_depend_on_the_code_that_decodes_them(project):
    training = Training(project)
    pixels = {"densevse.data.views.crops", "densevse.vision.finetuned"}
    assert pixels < set(training.modules(job("defrag_finetuned")))
    assert pixels.isdisjoint(training.modules(job("defrag")))
    reached = {
        variant: project.code.reached("train.py", *training.modules(job(variant)))
        for variant in ("defrag", "defrag_finetuned")
    }
    assert "densevse/vision/crops.py" in reached["defrag_finetuned"]
    assert not [file for file in reached["defrag"] if file.startswith("densevse/vision/")]


def test_photographs_of_a_search_are_seen_by_the_network_that_was_trained(project, tmp_path):
    searches = Searches(project)
    photographs = searches.images(SimpleNamespace(search="mine"))
    inputs = searches.inputs_of_images(job("defrag_finetuned", photographs))
    assert inputs["source_photographs"] == str(tmp_path)
    assert all(photographs in path for path in inputs["view_crops"])
    assert "view_regions" not in inputs
