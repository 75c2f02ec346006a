"""`make full-size` itself takes hours; here are its settings, and a few of its sentences."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.config.load import load, variant
from densevse.dag.project import Project
from densevse.dag.rows import RowStage
from densevse.report.provenance import check_provenance
from densevse.runtime.errors import InputError
from tests import projects
from tests.system.full_size.__main__ import PARTS, prepare, settings
from tests.system.full_size.made_up import MadeUpParser, lineage_of_features, made_up_sentences
from tools.environments import ROOT


@pytest.mark.parametrize("dataset", PARTS)
def test_settings_are_a_configuration_with_every_structure_that_is_measured(dataset):
    config = load(ROOT / "config", settings(dataset, PARTS[dataset], Path("/sources")))
    read = {name for method in PARTS[dataset].measure for name in variant(config, dataset, method).sentences}
    read |= {name for method in PARTS[dataset].generators for name in config.generators[method].sentences}
    assert (
        read
        == {
            "flickr30k": {"words", "trees", "triplets"},
            "coco": {"words", "trees", "triplets", "dependencies", "tags"},
        }[dataset]
    )


def test_sentences_are_as_long_as_those_of_coco_and_can_be_parsed():
    part = PARTS["coco"]
    assert part.size.splits == {"train": 113_287, "val": 5_000, "test": 5_000}
    texts = list(islice(made_up_sentences(part.size.shortest), 2000))
    assert 11 < np.mean([len(text.split()) for text in texts]) < 12
    for text, parse in zip(texts[:50], MadeUpParser().parse(texts[:50]), strict=True):
        assert parse.tokens == text.split()
        assert parse.status == "ok"


def test_a_reduced_part_has_the_shares_of_the_whole():
    whole = PARTS["flickr30k"].size
    reduced = whole.reduced(2000)
    assert reduced.splits == {"train": 1871, "val": 65, "test": 64}
    assert (whole.images, reduced.images, reduced.shards) == (31_014, 2000, 1)


@pytest.mark.parametrize(("view", "method"), [("whole", "vse"), ("grid", "sm_lstm"), ("regions", "hm_lstm")])
def test_made_up_features_have_the_lineage_that_a_table_states(view, method, tmp_path):
    values = settings("flickr30k", PARTS["flickr30k"], tmp_path)
    images, weights = tmp_path / "images.parquet", tmp_path / "no_weights.pth"
    weights.touch()
    schema.write([], IMAGES, images, {"parents": {}})
    (tmp_path / "proposals/made_up").mkdir(parents=True)
    schema.write([], PROPOSALS, tmp_path / "proposals/made_up/00-of-01.parquet", {"parents": {}})
    plan = RowStage(Project(ROOT, values))
    row = plan.measured("flickr30k", method, [0])
    stated = plan.configured([SimpleNamespace(dataset="flickr30k", measured={method: row})])
    made_from = lineage_of_features(load(ROOT / "config", values), images, weights, view, "00-of-01")
    check_provenance("model", {"parents": {f"view_{view}": made_from}}, row, stated)
    with pytest.raises(InputError, match="network: the table says vgg19, found none"):
        check_provenance("model", {"parents": {f"view_{view}": {**made_from, "network": "none"}}}, row, stated)


@pytest.mark.long
def test_what_is_made_up_is_adopted_and_not_made_again(tmp_path):
    part = PARTS["flickr30k"]
    project = projects.Project(projects.copy_code(tmp_path / "project"))
    prepare(project, "flickr30k", replace(part, size=part.size.reduced(40)))
    planned = project.planned("results/tables/flickr30k.md")
    assert planned["train"] >= len(part.measure)
    assert not {"extract_features", "extract_regions", "parse", "write_proposals", "read_dataset"} & planned.keys()
