"""The inputs of a variant that is trained with its network: pixels of regions, and the network's first weights."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.dag.project import Project
from densevse.dag.training import TrainingStage
from tests.rules import input_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project():
    return Project(ROOT, {})


def job(variant):
    return SimpleNamespace(dataset="flickr30k", variant=variant, seed="0")


def test_crops_are_of_the_regions_that_the_fixed_network_describes(project):
    training = TrainingStage(project)
    inputs, fixed = training.inputs(job("defrag_finetuned")), training.inputs(job("defrag"))
    wanted = {"dataset": "flickr30k", "variant": "defrag_finetuned", "seed": 0}
    regions = input_of("correspondence_accuracy", "regions", training.regions, **wanted)
    assert inputs["view_crops"] == fixed["view_regions"] == regions
    assert {name for name in inputs if name.startswith("source_")} >= {"source_images"}
    assert not [name for name in fixed if name.startswith("source_")]
    assert input_of("train", "network", training.network, dataset="flickr30k", variant="defrag") == []
    network = project.datasets["flickr30k"].networks["regions"]
    first = input_of("train", "network", training.network, **wanted)
    assert [f"/{network}/" in path for path in first] == [True]
    assert "/defrag/" in input_of("train", "start", training.origin, **wanted)


def test_only_jobs_that_read_pixels_depend_on_the_code_that_decodes_them(project):
    training = TrainingStage(project)
    pixels = {"densevse.data.views.crops", "densevse.vision.finetuned"}
    assert pixels < set(training.modules("flickr30k", "defrag_finetuned"))
    assert pixels.isdisjoint(training.modules("flickr30k", "defrag"))
    reached = {
        variant: project.code.reached("train.py", *training.modules("flickr30k", variant))
        for variant in ("defrag", "defrag_finetuned")
    }
    assert "densevse/vision/crops.py" in reached["defrag_finetuned"]
    assert not [file for file in reached["defrag"] if file.startswith("densevse/vision/")]
