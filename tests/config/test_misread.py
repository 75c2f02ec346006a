"""Values that would be read as another thing than they say, and names that share a file."""

import re
from pathlib import Path

import pytest

from densevse.config.analyses import FOLDER, settings_of_analyses
from densevse.config.config import FOLDERS
from densevse.config.load import load
from snakeproof.errors import InputError

ROOT = Path(__file__).parents[2]
SEARCH = {"dataset": "scenes", "variant": "vse", "sentences": ["A ball."]}
ASKED = {"dataset": "scenes", "questions": "grammar"}
PAPER = {"title": "Mine", "datasets": {}, "claims": {}}
MEAN = {"whole": {"format": "folder", "path": "vectors"}}
RESPLIT = {"title": "x", "resplit": {"of": "scenes", "seed": 1, "train": 9, "val": 9, "test": 9}}


@pytest.mark.parametrize("value", [True, 8, 0.5])
def test_what_is_not_text_needs_quotes(value):
    with pytest.raises(InputError, match=r"datasets.scenes.title: .*\(yes, no, on, off\) needs quotes"):
        load(ROOT / "config", {"datasets": {"scenes": {"title": value}}})


@pytest.mark.parametrize(
    "name", sorted({*FOLDERS, "Tables"}.union(*(k.FOLDERS for k in settings_of_analyses().values())))
)
def test_no_data_set_has_the_name_of_a_folder_below_results(name):
    with pytest.raises(InputError, match=rf"datasets\.{name}: results has a folder of this name"):
        load(ROOT / "config", {"datasets": {name: RESPLIT}})


def test_all_folders_below_results_are_known():
    files = [*ROOT.glob("workflow/rules/core/*.smk"), *FOLDER.glob("*/rules.smk")]
    found = {name for file in files for name in re.findall(r'"<results>/([^"/{.]+)/', file.read_text())}
    assert found <= FOLDERS.union(*(kind.FOLDERS for kind in settings_of_analyses().values()))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"datasets": {"Scenes": RESPLIT}}, "datasets: scenes and Scenes would share their files"),
        ({"methods": {"vse": {"variants": {"VSEPP": {}}}}}, "methods: vsepp and VSEPP would share their files"),
        ({"searches": {"a": SEARCH, "A": SEARCH}}, "searches: a and A would share their files"),
        ({"choices": {"a": ASKED, "A": ASKED}}, "choices: a and A would share their files"),
        ({"claims": {"VSE": PAPER}}, "claims: vse and VSE would share their files"),
        ({"datasets": {"scenes": {"features": {"a": MEAN, "A": MEAN}}}}, "features: a and A would share their files"),
        ({"datasets": {"x" * 300: RESPLIT}}, "write at most 64 bytes"),
        ({"results": "x" * 300}, "no system takes a path"),
        ({"datasets": {"scenes": {"shards": 10**9}}}, r"datasets\.scenes\.shards: .* 1000"),
        ({"datasets": {"scenes": {"top": 10**9}}}, r"datasets\.scenes\.top: .* 100000"),
        ({"methods": {"vse": {"training": {"batch_size": 10**9}}}}, r"batch_size: .* 1000000"),
        ({"methods": {"vse": {"phases": {"main": {"epochs": 10**9}}}}}, r"epochs: .* 1000000"),
        (
            {"methods": {"vse": {"parameters": {"dimension": 10**12}}}},
            r"methods\.vse\.parameters\.dimension: .* 100000",
        ),
    ],
)
def test_nonsense_is_refused_before_anything_is_planned(override, message):
    with pytest.raises(InputError, match=message):
        load(ROOT / "config", override)
