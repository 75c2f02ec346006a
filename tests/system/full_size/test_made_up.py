"""`make full-size` itself takes hours; here are its settings, and a few of its sentences."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from densevse.config.load import load, variant
from snakeproof.statements import read_statement
from tests import projects
from tests.system.full_size.__main__ import PARTS, prepare, settings
from tests.system.full_size.made_up import MadeUpParser, made_up_sentences
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


@pytest.mark.long
def test_what_is_made_up_is_not_made_again(tmp_path):
    part = PARTS["flickr30k"]
    part = replace(part, size=part.size.reduced(40))
    project = projects.Project(projects.copy_code(tmp_path / "project"))
    prepare(project, "flickr30k", part)
    planned = project.planned("results/tables/flickr30k.md")
    assert planned["train"] >= len(part.measure)
    made = {"extract_features", "extract_regions", "parse_by_grammar", "propose", "read_dataset"}
    assert not made & planned.keys()
    for file in part.size.shard_files:
        statement = read_statement(project.folder / "results/flickr30k" / file)
        stage = statement.call.partition(":")[2]
        assert stage in made
        assert not (project.folder / "results/logs" / stage).exists()
