"""`densevse list` prints all names."""

from pathlib import Path

import pytest
import yaml

from densevse.command.shared import configuration, overrides
from densevse.command.subcommands.list import kinds, list_names

ROOT = Path(__file__).parents[2]
TABLES = list((ROOT / "config/tables").glob("*.yaml"))


@pytest.fixture(scope="module")
def config():
    return configuration(overrides([]))


def test_every_entry_has_a_line_and_a_file(config):
    for kind in kinds(config):
        for row in list_names(kind, config, overrides([])):
            assert row.line, row
            assert (ROOT / row.file).is_file(), row


def test_variants_and_ensembles_are_listed(config):
    names = {row.name for row in list_names("methods", config, [])}
    assert names == {*config.variant_names(), *config.ensembles()}
    assert {row.name for row in list_names("generators", config, [])} == set(config.generator_names())
    assert {row.name for row in list_names("tables", config, [])} == {file.stem for file in TABLES}


def test_names_stand_in_columns_in_order(densevse, monkeypatch):
    monkeypatch.chdir(ROOT)
    answer = densevse("list", "networks", "tables")
    assert answer.status == 0
    first, second = answer.output.split("\n\n")
    heading, *rows = first.splitlines()
    assert heading == "networks (11)"
    assert rows == sorted(rows)
    assert len({row.index("config/networks/") for row in rows}) == 1
    assert second.startswith(f"tables ({len(TABLES)})\n")


def test_by_default_each_kind_has_a_line_with_names_on_one_screen(densevse, config):
    *overview, empty, advice = densevse("list").lines
    assert [line.split()[0] for line in overview] == kinds(config)
    assert {"methods", "tables", "searches", "generators"} <= set(kinds(config))
    assert next(line.split() for line in overview if line.startswith("parsers"))[1:] == [
        f"({len(config.parsers)})",
        *", ".join(sorted(config.parsers)).split(),
    ]
    assert len(overview) < 22
    assert not empty
    assert "densevse list <kind>" in advice


def test_the_folder_of_the_files_is_printed_once_where_one_is_elsewhere(densevse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert densevse("list", "parsers", "networks").lines[-1] == f"The project's files are in {ROOT}."
    monkeypatch.chdir(ROOT)
    assert "The project's files" not in densevse("list", "parsers").output


def test_a_misspelt_kind_is_answered_with_the_near_one(densevse):
    answer = densevse("list", "metods")
    assert answer.status == 1
    assert "no kind 'metods'" in answer.errors
    assert "is 'methods' meant?" in answer.errors


def test_a_file_of_yours_is_where_its_entries_are_configured(densevse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(
        yaml.safe_dump({"tables": {"mine": {"title": "Mine", "sections": [{"dataset": "scenes"}]}}})
    )
    rows = [line.split() for line in densevse("list", "tables", "--configfile", "mine.yaml").lines]
    assert ["mine", "Mine", "mine.yaml"] in rows


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "is not there"),
        ("[1]", "holds no keys"),
        ("", "mine.yaml holds no keys"),
        ("# no\n", "holds no keys"),
        ("tabls: {}", "is 'tables' meant?"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(content, said, densevse, tmp_path):
    file = tmp_path / "mine.yaml"
    if content is not None:
        file.write_text(content)
    answer = densevse("list", "--configfile", str(file))
    assert answer.status == 1
    assert said in answer.errors
