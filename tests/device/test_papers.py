"""The data that steps are timed on has what the papers' methods read: 4,096 values, nested trees, many relations."""

import numpy as np
import pytest

from densevse.artifacts.schemas.sentences import RELATIONS
from densevse.config.load import load, variant
from densevse.data.inputs import Inputs
from densevse.kernels.hlstm import subtrees
from snakeproof import schema
from tests.device.files import files_of
from tests.device.papers import FREQUENT, RELATION_NAMES, VALIDATED, Sizes, write_inputs, write_word_vectors
from tools.environments import ROOT

CONFIG = load(ROOT / "config", {})


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    sizes = Sizes(images=VALIDATED + 20)
    write_inputs(folder, sizes)
    write_word_vectors(folder / "vectors.parquet", sizes.known, 8)
    return folder


def inputs_of(folder, name):
    entry = variant(CONFIG, "flickr30k", name)
    return Inputs(
        files_of(folder, entry.views, entry.sentences, entry.dependencies, entry.word_vectors), entry.sentences
    )


@pytest.mark.parametrize("name", ["hm_lstm", "defrag", "scan"])
def test_regions_have_the_values_of_a_network_s_layer(papers, name):
    inputs = inputs_of(papers, name)
    assert inputs.shapes().features["regions"] == 4096
    assert inputs.pairs("train").batch(np.arange(3)).images.present.shape == (3, 20)


def test_trees_have_more_than_eight_levels(papers):
    trees = inputs_of(papers, "hm_lstm").pairs("train").batch(np.arange(64)).sentences["trees"]
    assert len(subtrees(trees.word, trees.parent, trees.noun_phrase).levels) > 8


def test_sentences_have_every_frequent_relation(papers):
    inputs = inputs_of(papers, "defrag")
    assert inputs.shapes().sizes["relations"] == FREQUENT
    assert len(schema.read(papers / "relations-enhanced.parquet", RELATIONS)) == len(RELATION_NAMES) == 48
    assert len(np.unique(inputs.pairs("train").batch(np.arange(100)).sentences["triplets"].relation)) == FREQUENT
