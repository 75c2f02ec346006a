"""YAML files that would be read as another thing than they say, or without end, and keys that occur twice."""

import re

import pytest

from snakeproof.errors import InputError
from snakeproof.yaml_files import check_configfiles, read_yaml

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 7)
)


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


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1\nb: {c: 1,\n  'c': 2}\n", "2 and 3"),
        ("a:\n  - b: 1\n    b: 1\n", "2 and 3"),
        ("x: &x {a: 1}\ny:\n  <<: *x\n  b: 1\n  b: 2\n", "4 and 5"),
        ('{\n\t"a": "\\ud83d\\ude00",\n\t"a": 2}', "2 and 3"),
    ],
)
def test_a_key_that_stands_twice_in_a_file_of_snakemake_s_is_refused(text, lines, tmp_path):
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(InputError, match=rf"own\.yaml: the key '.' occurs twice, in lines {lines}"):
        check_configfiles([tmp_path / "own.yaml"])


@pytest.mark.parametrize("text", ["x: &x {a: 1}\ny: {<<: *x, a: 2}\n", '{"a":\t"\\ud83d\\ude00", "b": {"a": 1}}', ""])
def test_what_stands_once_is_not(text, tmp_path):
    (tmp_path / "own.yaml").write_text(text)
    check_configfiles([tmp_path / "own.yaml"])


NESTED = ["a: " + "[" * 2000 + "]" * 2000, '{"a":' * 2000 + "1" + "}" * 2000, "a:\n  " + "- " * 2000]


@pytest.mark.parametrize("text", NESTED)
def test_values_nested_too_deep_are_named(tmp_path, text):
    """Depths at which libyaml ends the process are not tried here."""
    (tmp_path / "deep.yaml").write_text(text)
    for read in (read_yaml, lambda path: check_configfiles([path])):
        with pytest.raises(InputError, match=r"deep\.yaml: lists or mappings are nested too deep; write fewer levels"):
            read(tmp_path / "deep.yaml")


def test_many_values_need_not_be_deep(tmp_path):
    (tmp_path / "wide.yaml").write_text("a:\n" + "- [x-y, {b: c}]\n" * 500)
    assert len(read_yaml(tmp_path / "wide.yaml")["a"]) == 500
