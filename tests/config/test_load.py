import shutil
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from densevse.config.load import FOLDERS, load, merge, variant
from snakeproof.errors import InputError

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
        (name, dataset): variant(config, dataset, name).parameters.margin
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
    with pytest.raises(InputError, match=r"ensembles\.vse_all.*members: one model is no ensemble"):
        load(CONFIG, {"methods": {"vse": {"ensembles": {"vse_all": {**entry, "members": ["vse"]}}}}})
    twice = {**entry, "members": ["clip"], "seeds_each": 2}
    with pytest.raises(InputError, match=r"ensembles\.vse_all\.seeds_each: clip is not trained"):
        load(CONFIG, {"methods": {"vse": {"ensembles": {"vse_all": twice}}}})
    with pytest.raises(InputError, match="would share their files"):
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


def test_a_tab_is_called_a_tab(tmp_path):
    shutil.copytree(CONFIG, tmp_path / "config")
    for text, line in (("title: a\n\treader: scenes\n", 2), ("options:\n  images:\n  \ttrain: 3\n", 3)):
        (tmp_path / "config/datasets/broken.yaml").write_text(text)
        with pytest.raises(InputError, match=rf"broken\.yaml: line {line} begins with a tab; write spaces"):
            load(tmp_path / "config", {})


def test_a_key_that_stands_twice_is_refused_with_its_lines(tmp_path):
    shutil.copytree(CONFIG, tmp_path / "config")
    file = tmp_path / "config/datasets/scenes.yaml"
    file.write_text(f"{file.read_text()}\ntitle: Another\n")
    lines = file.read_text().splitlines()
    where = f"lines {lines.index('title: Scenes') + 1} and {len(lines)}"
    with pytest.raises(InputError, match=rf"scenes\.yaml: the key 'title' occurs twice, in {where}"):
        load(tmp_path / "config", {})


def test_an_entry_with_another_ending_is_not_passed_over(tmp_path):
    shutil.copytree(CONFIG, tmp_path / "config")
    (tmp_path / "config/datasets/mine.yml").touch()
    with pytest.raises(InputError, match=r"mine\.yml: .* rename it to mine\.yaml"):
        load(tmp_path / "config", {})


def test_merge_keeps_what_is_not_named():
    assert merge({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": 3}, "d": [2]}) == {"a": {"b": 3, "c": 2}, "d": [2]}


def test_no_source_has_the_name_of_another_input_of_the_rules_that_read_sources():
    named = {"image_table", "caption_table", "words", "parses", "word_vectors", "correspondences", "model", "proposals"}
    named |= {"weights", "class_names", "retrieval", "code"}
    for name, dataset in load(CONFIG, {}).datasets.items():
        assert not named & dataset.sources.keys(), name


def test_no_file_restates_a_default():
    """Each default is defined once, in densevse/config or densevse/methods/parameters."""
    config = load(CONFIG, {})
    for folder in FOLDERS:
        for path in sorted((CONFIG / folder).glob("*.yaml")):
            entry = getattr(config, folder)[path.stem]
            assert list(restated(entry, yaml.safe_load(path.read_text()))) == [], path


def restated(entry, given):
    """The keys in the values of a file that repeat the defaults of an entry's type."""
    for key, value in given.items():
        now, field = getattr(entry, key), type(entry).model_fields[key]
        if isinstance(now, BaseModel):
            yield from (f"{key}.{name}" for name in restated(now, value))
        elif not field.is_required() and now == field.default:
            yield key
