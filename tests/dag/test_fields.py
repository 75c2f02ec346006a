"""Each field of the configuration's own entries is given to some job, or is known to be read by the plan alone."""

import pytest

from densevse.config.datasets import Dataset, Resplit, WordVectors
from densevse.config.given import GivenLayout
from densevse.config.methods import MODELS, Decoding
from densevse.config.networks import ConceptNetwork, NetworkConfig, RegionOptions
from densevse.config.proposers import PROPOSERS
from densevse.config.sources import Source
from densevse.config.training import NamedPhase, TrainingConfig
from densevse.dag import fields

LISTED = {name for value in vars(fields).values() if isinstance(value, tuple) for name in value}
PLAN_ALONE = {
    TrainingConfig: set(),
    NamedPhase: set(),
    RegionOptions: set(),
    GivenLayout: set(),
    Decoding: set(),
    # Given by a stage by name: options and prompts whole, regions, training and phases by lists; the others as files.
    NetworkConfig: {
        *(
            "classes",
            "layers",
            "local",
            "options",
            "phases",
            "prompts",
            "regions",
            "tokenizer",
            "trained_on",
            "training",
        ),
        "weights",
    },
    ConceptNetwork: {"learns_from", "network", "phases", "proposer", "training"},
    # Files, and numbers that are a job's setting of their own.
    Dataset: {
        *(
            "about_images",
            "concepts",
            "exact",
            "language",
            "local",
            "minimum_word_count",
            "networks",
            "options",
            "parser",
        ),
        "proposer",
        *("resplit", "seeds", "sentences", "shards", "sides", "sources", "threads", "title", "top", "word_vectors"),
    },
    Resplit: {"of"},
    Source: {"licence", "made_by", "note", "path"},  # a path is given by name
    WordVectors: {"local", "source"},
}


@pytest.mark.parametrize("entry", PLAN_ALONE, ids=lambda entry: entry.__name__)
def test_each_field_is_listed_or_known_to_be_read_by_the_plan_alone(entry):
    """A new field fails here until it is given to the jobs that read it, or added above."""
    assert entry.model_fields.keys() - LISTED == PLAN_ALONE[entry]


def test_a_listed_field_is_one_of_some_entry():
    """So that no list names a field that was renamed."""
    of_proposers = {name for kind in PROPOSERS.values() for name in kind.model_fields}
    computed = {"detector"}  # a property of MCG's options
    known = {name for entry in PLAN_ALONE for name in entry.model_fields} | of_proposers | computed
    assert known >= LISTED


SET = {"cpu_precision": "bf16"}


def test_what_came_later_is_given_only_where_it_is_set():
    given = [fields.dump_fields(TrainingConfig(batch_size=1, **kept), fields.TRAINING) for kept in ({}, SET)]
    assert [one.get("cpu_precision") for one in given] == [None, "bf16"]
    assert given[0].keys() | SET.keys() == given[1].keys()


@pytest.mark.parametrize("method", ["vse", "sco", "scan", "sm_lstm", "defrag", "devise", "sdt_rnn", "deepvs"])
def test_parameters_that_came_later_are_given_only_where_they_are_set(method):
    """So models that were trained before them stay valid."""
    parameters = MODELS[method]
    assert {"temperature"} <= parameters.ADDED <= parameters.model_fields.keys()
    assert not parameters.ADDED & fields.dump_entry(parameters()).keys()
    assert fields.dump_entry(parameters(temperature=0.05))["temperature"] == 0.05
