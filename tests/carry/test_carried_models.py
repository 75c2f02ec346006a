"""A model that is exported from one folder of results and imported into another one."""

import copy
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from densevse.artifacts.files import checksum
from densevse.carry.importing import import_model
from densevse.config.load import merge
from densevse.dag.project import Project as ConfiguredProject
from densevse.runtime.errors import InputError
from tests.projects import SMALL, Project

WITH_SEARCH = merge(
    SMALL, {"searches": {"mine": {"dataset": "scenes", "variant": "vse", "sentences": ["a red circle", "a dog"]}}}
)
EXPORTED = "results/scenes/exported/vse/seed0/round0"
MODEL = "results/scenes/models/vse/seed0/round0/model.safetensors"
IMPORTED = "resources/carried/scenes/models/vse/seed0/round0"
TABLE = "results/tables/scenes.csv"
RETRIEVED, FOUND = "results/scenes/retrieval/full/vse/seed0/round0.parquet", "results/search/mine.parquet"


@pytest.fixture(scope="module")
def original(finished, tmp_path_factory):
    """A finished project in which a model is exported and asked."""
    project = Project(tmp_path_factory.mktemp("original") / "project")
    shutil.copytree(finished.folder, project.folder, symlinks=True)
    project.configure(WITH_SEARCH)
    project.run(EXPORTED, FOUND)
    return project


@pytest.fixture
def exported(original, tmp_path):
    """A copy of what was exported."""
    return Path(shutil.copytree(original.folder / EXPORTED, tmp_path / "carried"))


@pytest.fixture
def empty(original, tmp_path, monkeypatch):
    """A folder in which nothing was made yet, with the code of the original."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def take_up(folder: Path, values: dict, root: Path) -> Path:
    return import_model(folder, ConfiguredProject(root, values))


def rewrite(folder: Path, change) -> None:
    """Change the records of an exported model."""
    path = folder / "records.json"
    records = json.loads(path.read_text())
    change(records)
    path.write_text(json.dumps(records))


def test_an_export_holds_all_that_a_stranger_needs(exported, original):
    names = {path.relative_to(exported).as_posix() for path in exported.rglob("*") if path.is_file()}
    described = {"README.md", "LICENCES.md", "metrics.csv", "preprocessing.json", "records.json"}
    assert names - {".snakemake_timestamp"} == {
        *described, "history.parquet", "model.safetensors", "vocabulary/words.parquet"
    }  # fmt: skip
    records = json.loads((exported / "records.json").read_text())
    assert {name: checksum(exported / name) for name in records["files"]} == records["files"]
    assert names - records["files"].keys() == {"records.json", ".snakemake_timestamp"}
    seen = json.loads((exported / "preprocessing.json").read_text())["images"]["whole"]
    network = original.folder / "results/scenes/networks/scenes_net.safetensors"
    assert (seen["network"], seen["layer"], seen["size"]) == ("scenes_net", "fc7", 64)
    assert seen["weights_sha256"] == checksum(network)


def test_an_export_has_the_row_of_the_table(exported, original):
    own, table = (pd.read_csv(file) for file in (exported / "metrics.csv", original.folder / TABLE))
    printed = table[(table["variant"] == "vse") & (table["kind"] == "measured")].reset_index(drop=True)
    columns = [name for name in own if not name.startswith("gain")]
    pd.testing.assert_frame_equal(own[columns], printed[columns], check_dtype=False)
    assert own["rsum_low"][0] <= own["rsum"][0] <= own["rsum_high"][0]


def test_the_card_says_how_the_model_was_made(exported):
    card = (exported / "README.md").read_text()
    code = json.loads((exported / "records.json").read_text())["settings"]["code"]
    for told in (
        "# VSE, trained on Scenes",
        "seed 0, round 0",
        "parameters.margin",
        "0.2",
        code,
        "scenes_net",
        "torch",
    ):
        assert told in card
    assert "that of this repository" in (exported / "LICENCES.md").read_text()


@pytest.mark.slow
def test_an_imported_model_finds_the_same_in_another_folder(exported, original, make_project, monkeypatch):
    project = make_project(WITH_SEARCH)
    monkeypatch.chdir(project.folder)
    take_up(exported, WITH_SEARCH, project.folder)
    planned = project.planned(RETRIEVED, FOUND)
    assert planned["use_carried_model"] == planned["use_carried_vocabulary"] == 1
    assert planned.keys().isdisjoint({"train", "count_words"})
    project.run(RETRIEVED, FOUND)
    for file in (MODEL, RETRIEVED, FOUND):
        assert (project.folder / file).read_bytes() == (original.folder / file).read_bytes(), file
    assert project.planned(RETRIEVED, FOUND) == {}

    another = copy.deepcopy(WITH_SEARCH)
    another["methods"]["vse"]["parameters"] = {"margin": 0.123}
    project.configure(another)
    refused = project.run(RETRIEVED, check=False).stdout
    assert "parameters.margin: 0.2 there, 0.123 here" in refused
    project.configure(WITH_SEARCH)

    with open(project.folder / IMPORTED / "model.safetensors", "ab") as file:
        file.write(b"?")
    assert "changed since the model was exported" in project.run(RETRIEVED, check=False).stdout
