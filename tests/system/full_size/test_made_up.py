"""`make full-size` itself takes hours; here are its settings, and a few of its sentences."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from densevse.config.load import load, variant
from tests.system.full_size.__main__ import PARTS, settings
from tests.system.full_size.made_up import MadeUpParser, made_up_sentences
from tools.environments import ROOT


@pytest.mark.parametrize("dataset", PARTS)
def test_settings_are_a_configuration_with_every_structure_that_is_measured(dataset):
    config = load(ROOT / "config", settings(dataset, Path("/sources")))
    read = {name for method in PARTS[dataset].measure for name in variant(config, dataset, method).sentences}
    read |= {name for method in PARTS[dataset].generators for name in config.generators[method].sentences}
    assert (
        read
        == {
            "flickr30k": {"words", "trees"},
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
