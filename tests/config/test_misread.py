"""Files that would be read as another thing than they say, or without end, and names that share a file."""

import re
from pathlib import Path

import pytest

from densevse.config.analyses import FOLDER, settings_of_analyses
from densevse.config.config import FOLDERS
from densevse.config.load import load
from snakeproof.errors import InputError
from snakeproof.yaml_files import check_configfiles, read_yaml

ROOT = Path(__file__).parents[2]
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 30)
)
RESPLIT = {"title": "x", "resplit": {"of": "scenes", "seed": 1, "train": 9, "val": 9, "test": 9}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {b: 010}", 'a.b: YAML reads 010 as 8; write 8, or for text "010"'),
        ("a: [1, 1:30]", 'a.1: YAML reads 1:30 as 90; write 90, or for text "1:30"'),
        ("a: {no: 1}", 'a.no: YAML reads this key as False; write "no", in quotes'),
        ("2014: {}", '2014: YAML reads this key as 2014; write "2014", in quotes'),
        ("a: &a {b: *a}", "a.b: an alias repeats what it is a part of; write the values out"),
        (BOMB, "a5: with its aliases this has more than 1,000,000 values; write fewer"),
    ],
)
def test_what_would_be_misread_is_refused_by_its_key(tmp_path, text, message):
    (tmp_path / "own.yaml").write_text(text)
    for read in (read_yaml, lambda path: check_configfiles([path])):
        with pytest.raises(InputError, match=re.escape(f"own.yaml: {message}")):
            read(tmp_path / "own.yaml")


def test_what_is_plain_keeps_its_value(tmp_path):
    (tmp_path / "own.yaml").write_text('{a: "010", b: "1:30", c: 0, d: 0.5, e: -3, f: yes, g: &g [1], h: *g, "no": x}')
    found = {"a": "010", "b": "1:30", "c": 0, "d": 0.5, "e": -3, "f": True, "g": [1], "h": [1], "no": "x"}
    assert read_yaml(tmp_path / "own.yaml") == found


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
