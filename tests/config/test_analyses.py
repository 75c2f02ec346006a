"""Settings of analyses: each declares its own, and a key of earlier versions is refused with its new name."""

import re
from pathlib import Path

import pytest

from densevse.config.analyses import FOLDER, ByDataset, settings_of_analyses
from densevse.config.datasets import Dataset
from densevse.config.load import load
from snakeproof.errors import InputError

CONFIG = Path(__file__).parents[2] / "config"
BY_DATASET = {name: kind for name, kind in settings_of_analyses().items() if issubclass(kind, ByDataset)}


@pytest.fixture(scope="module")
def shipped():
    return load(CONFIG, {})


@pytest.mark.parametrize("key", Dataset.RENAMED)
def test_an_old_key_of_a_data_set_is_refused_with_its_new_name(key):
    message = f"datasets.scenes.{key}: this key is now {Dataset.RENAMED[key]}"
    with pytest.raises(InputError, match=re.escape(message)):
        load(CONFIG, {"datasets": {"scenes": {key: {}}}})


@pytest.mark.parametrize("key", Dataset.RENAMED)
def test_a_new_name_is_that_of_a_key(key):
    analysis, dataset, *field = Dataset.RENAMED[key].split(".")
    assert dataset == "<data set>"
    entry = BY_DATASET[analysis].model_validate({"scenes": {}}).dataset_entry("scenes")
    assert set(field) <= type(entry).model_fields.keys()


def test_a_folder_of_boundaries_is_named_by_a_key():
    with pytest.raises(InputError, match=r"boundaries\.folder: name the folder under this key"):
        load(CONFIG, {"boundaries": "BSDS500"})


@pytest.mark.parametrize("analysis", BY_DATASET)
def test_an_unknown_data_set_is_refused_by_its_path(analysis):
    with pytest.raises(InputError, match=rf"{analysis}\.scenez: no 'scenez'; known: coco, "):
        load(CONFIG, {analysis: {"scenez": {}}})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"caption_scores": {"scenes": {"generators": ["nic"]}}}, "caption_scores.scenes.generators: no 'nic'"),
        ({"caption_scores": {"scenes": {"neighbour": "vsee"}}}, "caption_scores.scenes.neighbour: no 'vsee'"),
        ({"caption_scores": {"scenes": {"reference": "lbl"}}}, "caption_scores.scenes.reference: no 'lbl'"),
        ({"human_judgements": {"flickr8k": {"source": "txt"}}}, "human_judgements.flickr8k.source: no 'txt'"),
        ({"localisation": {"coco": {"trained_on": "scenez"}}}, "localisation.coco.trained_on: no 'scenez'"),
        ({"proposal_recall": {"coco": {"proposers": ["mcgg"]}}}, "proposal_recall.coco.proposers: no 'mcgg'"),
        ({"searches": {"scenes": {"dataset": "scenez"}}}, "searches.scenes.dataset: no 'scenez'"),
        ({"searches": {"scenes": {"variant": "vsee"}}}, "searches.scenes.variant: no 'vsee'"),
        ({"votes": {"scenes": {"files": {"hm_lstmm": "v.csv"}}}}, "votes.scenes.files: no 'hm_lstmm'"),
    ],
)
def test_an_unknown_name_is_refused_by_its_path(settings, message):
    with pytest.raises(InputError, match=re.escape(message)):
        load(CONFIG, settings)


@pytest.mark.parametrize("analysis", BY_DATASET)
def test_a_data_set_without_an_entry_has_the_defaults(analysis, shipped):
    settings = shipped.analysis(BY_DATASET[analysis])
    assert "pascal1k" not in dict(settings.items())
    entry = settings.dataset_entry("pascal1k")
    assert entry.model_dump() == type(entry)().model_dump()


@pytest.mark.parametrize("analysis", settings_of_analyses())
def test_an_analysis_without_entries_has_the_defaults(analysis, tmp_path, monkeypatch):
    """All settings but its own are as they come."""
    for folder in FOLDER.iterdir():
        if folder.name != analysis:
            (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.setattr("densevse.config.load.FOLDER", tmp_path)
    kind = settings_of_analyses()[analysis]
    assert load(CONFIG, {}).analysis(kind) == kind.model_validate({})
