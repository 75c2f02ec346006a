import shutil
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from densevse.config.load import FOLDERS, load, merge, variant
from densevse.runtime.errors import InputError

CONFIG = Path(__file__).parents[2] / "config"


def test_shipped_configuration_is_valid():
    config = load(CONFIG, {})
    assert {"scenes", "flickr8k", "flickr30k", "coco", "pascal1k"} <= set(config.datasets)
    assert {"vse", "vsepp", "hm_lstm"} <= set(config.variant_names())


def test_a_typo_is_an_error_that_names_its_path():
    with pytest.raises(InputError, match=r"datasets\.flickr8k\.shardz"):
        load(CONFIG, {"datasets": {"flickr8k": {"shardz": 3}}})
    with pytest.raises(InputError, match=r"methods\.vse\.training\.learning_rat\b"):
        load(CONFIG, {"methods": {"vse": {"training": {"learning_rat": 1.0}}}})


def test_a_variant_may_only_change_parameters_that_the_method_has():
    overrides = {"methods": {"vse": {"variants": {"mine": {"parameters": {"margins": 0.3}}}}}}
    with pytest.raises(InputError, match=r"methods\.vse\.variants\.mine\.parameters\.margins"):
        load(CONFIG, overrides)


def test_the_name_of_an_unknown_network_is_an_error():
    with pytest.raises(InputError, match=r"datasets\.flickr8k\.networks\.whole: no 'alexnett'"):
        load(CONFIG, {"datasets": {"flickr8k": {"networks": {"whole": "alexnett"}}}})


def test_layers_of_a_variant_are_laid_in_order():
    overrides = {
        "methods": {
            "vse": {
                "parameters": {"margin": 0.5},
                "datasets": {"scenes": {"parameters": {"margin": 0.6}}},
                "variants": {
                    "mine": {"parameters": {"margin": 0.7}, "datasets": {"scenes": {"parameters": {"margin": 0.8}}}},
                    "plain": {},
                },
            }
        }
    }
    config = load(CONFIG, overrides)
    margins = {
        (name, dataset): variant(config, name, dataset).parameters.margin
        for name in ("vse", "plain", "mine")
        for dataset in ("coco", "scenes")
    }
    assert margins == {
        ("vse", "coco"): 0.5,
        ("vse", "scenes"): 0.6,
        ("plain", "coco"): 0.5,
        ("plain", "scenes"): 0.6,
        ("mine", "coco"): 0.7,
        ("mine", "scenes"): 0.8,
    }


def test_a_member_of_an_ensemble_is_a_variant():
    entry = {"title": "VSE*", "members": ["vse", "vsepp"]}
    config = load(CONFIG, {"methods": {"vse": {"ensembles": {"vse_all": entry}}}})
    assert config.ensembles()["vse_all"].members == ["vse", "vsepp"]
    with pytest.raises(InputError, match=r"ensembles\.vse_all\.members: no 'vse2'"):
        load(CONFIG, {"methods": {"vse": {"ensembles": {"vse_all": {**entry, "members": ["vse", "vse2"]}}}}})
    with pytest.raises(InputError, match=r"ensembles\.vse_all\.members: \['vse'\] more than once"):
        load(CONFIG, {"methods": {"vse": {"ensembles": {"vse_all": {**entry, "members": ["vse", "vse"]}}}}})
    with pytest.raises(InputError, match="2 variants have the name"):
        load(CONFIG, {"methods": {"vse": {"ensembles": {"hm_lstm": entry}}}})


def test_a_source_has_an_address_or_instructions(tmp_path):
    source = {"file": "a.zip", "licence": "none"}
    with pytest.raises(InputError, match=r"datasets\.flickr8k\.sources\.extra"):
        load(CONFIG, {"datasets": {"flickr8k": {"sources": {"extra": source}}}})


def test_a_broken_file_is_named(tmp_path):
    shutil.copytree(CONFIG, tmp_path / "config")
    (tmp_path / "config/datasets/broken.yaml").write_text("title: [")
    with pytest.raises(InputError, match=r"broken\.yaml: not valid YAML"):
        load(tmp_path / "config", {})


def test_merge_keeps_what_is_not_named():
    assert merge({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": 3}, "d": [2]}) == {"a": {"b": 3, "c": 2}, "d": [2]}


def test_no_source_has_the_name_of_another_input_of_the_rules_that_read_sources():
    named = {"image_table", "caption_table", "words", "parses", "word_vectors", "correspondences", "model", "proposals"}
    named |= {"weights", "class_names", "retrieval", "code"}
    for name, dataset in load(CONFIG, {}).datasets.items():
        assert not named & dataset.sources.keys(), name


def test_no_file_restates_a_default():
    """Each stands once, in densevse/config or densevse/methods/parameters."""
    config = load(CONFIG, {})
    for folder in FOLDERS:
        for path in sorted((CONFIG / folder).glob("*.yaml")):
            entry = getattr(config, folder)[path.stem]
            assert list(restated(entry, yaml.safe_load(path.read_text()))) == [], path


def restated(entry, given):
    """The keys in the values of a file that say what an entry's type says by itself."""
    for key, value in given.items():
        now, field = getattr(entry, key), type(entry).model_fields[key]
        if isinstance(now, BaseModel):
            yield from (f"{key}.{name}" for name in restated(now, value))
        elif not field.is_required() and now == field.default:
            yield key
