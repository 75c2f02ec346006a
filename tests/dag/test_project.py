"""The target for everything of a data set, and the folders of results and downloads."""

from types import ModuleType

import pytest

from densevse.dag import tables
from densevse.dag.project import Analyses, Project
from densevse.report.start_page import write_list
from snakeproof.errors import InputError
from tests.rules import ROOT, input_of, rules

CURVES = ModuleType("curves")
"""An analysis with a file for each data set."""
CURVES.target_files = lambda project, dataset: [f"results/figures/{dataset}/curves.svg"]
WITHOUT_TARGETS = ModuleType("without_targets")


@pytest.fixture(scope="module")
def analyses():
    found = Analyses(Project(ROOT, {}))
    for module in (tables, CURVES, WITHOUT_TARGETS):
        found.add(module)
    return found


def test_it_asks_for_the_tables_and_for_the_files_of_every_analysis(analyses):
    found = input_of("everything", "made", analyses.target_values, dataset="scenes")
    assert found == sorted([*tables.target_files(Project(ROOT, {}), "scenes"), "results/figures/scenes/curves.svg"])
    assert "results/tables/scenes.md" in found
    assert found == analyses.target_files("scenes")


def test_the_job_lists_tables_and_the_files_of_every_analysis(analyses):
    settings = analyses.listing_job("scenes").settings
    assert settings["title"] == "Scenes"
    assert settings["files"] == analyses.target_files("scenes")


def test_the_file_lists_what_was_made(tmp_path):
    files = ["results/tables/scenes.md", "results/figures/scenes/curves.svg"]
    made = tmp_path / "scenes.done"
    write_list("Scenes", files, str(made), tables=["a.md"])
    assert made.read_text().splitlines() == ["Everything of Scenes is made:", *files]


def test_everything_of_scenes_is_what_is_made_without_a_target():
    assert ".done" in (ROOT / "Snakefile").read_text().split("rule all:")[1]
    assert str(rules()["everything"].sections["output"]).strip().startswith('"<results>/{dataset}.done"')


@pytest.mark.parametrize("key", ["results", "resources"])
@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (".", "holds files of the project; name a separate folder"),
        ("config", "holds files of the project"),
        ("densevse/mine", "holds files of the project"),
        ("Snakefile", "Snakefile is a file; name a folder"),
        ("..", "holds files of the project"),
        ("/", "/ holds files of the project"),
        (".snakemake/mine", "holds files of the project"),
        ("Snakefile/mine", "Snakefile is a file; name a folder"),
    ],
)
def test_a_folder_that_cannot_be_is_refused_by_its_key(monkeypatch, key, folder, message):
    monkeypatch.chdir(ROOT)
    with pytest.raises(InputError, match=rf"^{key}: .*{message}"):
        Project(ROOT, {key: folder})


@pytest.mark.parametrize("folder", ["results", "results/mine"])
def test_a_broken_link_is_refused_by_its_key(monkeypatch, tmp_path, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").symlink_to("gone")
    with pytest.raises(InputError, match=r"^results: .*/results is a link to gone, which is missing"):
        Project(ROOT, {"results": folder})


def test_results_and_downloads_share_no_folder():
    with pytest.raises(InputError, match=r"^results: 'resources' is also the folder of resources"):
        Project(ROOT, {"results": "resources"})
