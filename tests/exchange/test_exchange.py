"""A model that is exported from one folder of results and imported into another one."""

import copy
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from huggingface_hub import ModelCard

from densevse.command.main import main
from densevse.config.load import merge
from densevse.dag.project import Project as ConfiguredProject
from densevse.dag.project import Stage
from densevse.exchange import dag
from densevse.exchange.dag import import_model
from densevse.exchange.exporting import model_card
from densevse.exchange.hub import pull, push
from densevse.exchange.records import ModelName
from snakeproof.errors import InputError
from snakeproof.files import checksum
from snakeproof.seals import verify_file
from tests.hub import TOKEN, hub_at
from tests.projects import ROOT, SMALL, Project

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
    """A finished project in which a model was exported and searched with."""
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
def empty(tmp_path, monkeypatch):
    """A folder without results, with the code of the original."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def configured(original):
    """The configuration of the original, with paths that are valid in each folder of a test."""
    return ConfiguredProject(original.folder, WITH_SEARCH)


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
    network = original.folder / "resources/scenes_net/scenes_net.safetensors"
    assert (seen["network"], seen["layer"], seen["size"]) == ("scenes_net", "fc7", 64)
    assert seen["weights_sha256"] == checksum(network)


def test_an_export_has_the_row_of_the_table(exported, original):
    own, table = (pd.read_csv(file) for file in (exported / "metrics.csv", original.folder / TABLE))
    printed = table[(table["variant"] == "vse") & (table["kind"] == "measured")].reset_index(drop=True)
    columns = [name for name in own if not name.startswith("gain")]
    pd.testing.assert_frame_equal(own[columns], printed[columns], check_dtype=False)
    assert {"rsum", "rsum_low", "rsum_high"} <= set(columns)


def test_the_card_says_how_the_model_was_made(exported):
    card = (exported / "README.md").read_text()
    code = json.loads((exported / "records.json").read_text())["settings"]["code"]
    for expected in (
        "# VSE, trained on Scenes",
        "seed 0, round 0",
        "parameters.margin",
        "0.2",
        code,
        "scenes_net",
        "torch",
    ):
        assert expected in card
    assert re.search(r"parameters.margin +\| 0.2 +\| public code", card)
    assert re.search(r"phases.main.epochs +\| 1 +\| yours", card)
    assert "that of this repository" in (exported / "LICENCES.md").read_text()


def test_the_head_of_the_card_has_the_metrics(exported):
    """The Hub showed no metrics: the card had no head."""
    head = ModelCard.load(exported / "README.md").data
    row = pd.read_csv(exported / "metrics.csv").iloc[0]
    found = {one.metric_type: one for one in head.eval_results}
    assert found["rsum"].metric_value == pytest.approx(row["rsum"])
    assert found["rsum"].metric_args is None  # so few images have no interval
    assert pd.isna(row["rsum_low"])
    assert (head.license, head.datasets, head.library_name) == ("other", ["scenes"], "densevse")


def test_a_model_is_imported_from_the_hub(exported, original, configured, empty, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with hub_at(monkeypatch, empty.parent / "cache"):
        push(exported, "owner/vse")
        place = import_model(pull("hub:owner/vse"), configured)
    assert not any(path.is_symlink() for path in place.rglob("*"))
    assert (place / "model.safetensors").read_bytes() == (original.folder / MODEL).read_bytes()


@pytest.mark.slow
def test_the_command_pushes_and_imports(original, make_project, monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    project = make_project(WITH_SEARCH)
    with hub_at(monkeypatch, project.folder / "cache") as hub:
        monkeypatch.chdir(original.folder)
        options = ["--configfile", "test.yaml"]
        assert main(["export", "vse", "--on", "scenes", "--push-to-hub", "owner/vse", *options]) == 0
        commit = hub.repositories["owner/vse"].commit
        assert capsys.readouterr().out.strip() == f"{hub.address}/owner/vse/commit/{commit}"
        monkeypatch.chdir(project.folder)
        assert main(["import", "hub:owner/vse", *options]) == 0
    assert capsys.readouterr().out.strip() == IMPORTED
    assert (project.folder / IMPORTED / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("epochs", "expected"), [([2], "the best of its epochs on the validation split"), ([], "not trained further")]
)
def test_the_card_says_whether_its_row_was_trained(epochs, expected):
    phases = [{"name": "main", "epochs": number} for number in epochs]
    settings = {
        "method": "vse",
        "seed": 0,
        "parameters": {},
        "training": {},
        "phases": phases,
        "code": "1",
        "dataset": {},
    }
    described = {"title": "VSE", "dataset": "Scenes", "origins": {}}
    card = model_card(ModelName("scenes", "vse", 0, 0), settings, described, {"images": {}, "sentences": {}}, [], {})
    assert expected in card


def test_a_model_on_given_features_is_not_exported():
    given = {
        "features": {"butd": {"whole": {"format": "array", "path": "x.npy", "ids": "x.txt"}}},
        "networks": {"whole": "butd"},
    }
    stage = Stage(ConfiguredProject(ROOT, {"datasets": {"flickr8k": given}}), dag)
    with pytest.raises(InputError, match=r"features\.butd: vse reads the view whole from these"):
        stage.model_vocabularies("flickr8k", "vse")


def assert_photographs_need_no_sentences_of_the_data_set(project):
    (project.folder / "photographs").mkdir()
    project.configure(merge(WITH_SEARCH, {"searches": {"mine": {"photographs": "photographs"}}}))
    planned = project.planned(FOUND)
    assert planned["tokenize_captions"] == planned["own_photographs"] == 1  # those that are asked
    assert planned.keys().isdisjoint({"train", "count_words"})
    project.configure(WITH_SEARCH)


@pytest.mark.long
def test_an_imported_model_finds_the_same_in_another_folder(exported, original, make_project, monkeypatch):
    project = make_project(WITH_SEARCH)
    monkeypatch.chdir(project.folder)
    assert main(["import", str(exported), "--configfile", "test.yaml"]) == 0
    assert_photographs_need_no_sentences_of_the_data_set(project)
    planned = project.planned(RETRIEVED, FOUND)
    assert planned["use_carried_model"] == planned["use_carried_vocabulary"] == 1
    assert planned.keys().isdisjoint({"train", "count_words"})
    project.run(RETRIEVED, FOUND)
    for file in (MODEL, RETRIEVED, FOUND):
        assert verify_file(project.folder / file) == verify_file(original.folder / file), file
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


def without(name):
    return lambda folder: (folder / name).unlink()


def with_another_end(name):
    def change(folder):
        with open(folder / name, "ab") as file:
            file.write(b"?")

    return change


def with_records(**changed):
    return lambda folder: rewrite(folder, lambda records: records.update(changed))


def with_network(name):
    return lambda folder: rewrite(folder, lambda records: records["settings"]["images"]["whole"].update(network=name))


def with_files(**changed):
    return lambda folder: rewrite(folder, lambda records: records["files"].update(changed))


def not_named(name):
    return lambda folder: rewrite(folder, lambda records: records["files"].pop(name))


BAD = {
    "records without the vocabulary": (not_named("vocabulary/words.parquet"), r"words\.parquet: .*does not list it"),
    "no records": (
        without("records.json"),
        r"carried/records\.json: no such file, so the model's settings are unknown",
    ),
    "no weights": (without("model.safetensors"), r"carried/model\.safetensors: no such file"),
    "no vocabulary": (without("vocabulary/words.parquet"), r"carried/vocabulary/words\.parquet: no such file"),
    "other weights": (with_another_end("model.safetensors"), r"carried/model\.safetensors: changed since"),
    "another vocabulary": (with_another_end("vocabulary/words.parquet"), r"words\.parquet: changed since"),
    "another card": (with_another_end("README.md"), r"carried/README\.md: changed since"),
    "cut records": (lambda folder: (folder / "records.json").write_text("{"), r"records\.json: not JSON"),
    "deep records": (lambda folder: (folder / "records.json").write_text("[" * 9999), r"records\.json: not JSON"),
    "another form": (with_records(format=2), r"records\.json is not valid.*\n.*format"),
    "a file elsewhere": (with_files(**{"../words.parquet": "0" * 64}), r"records\.json is not valid"),
    "no such data set": (with_records(dataset="scene"), r"datasets\.scene is not configured here.*'scenes' meant"),
    "a way out of the folder": (with_records(dataset="../.."), r"datasets\.\.\./\.\. is not configured here"),
    "no such variant": (with_records(variant="vsep"), r"methods\.vsep is not configured here"),
    "no such network": (with_network("my_net"), r"networks\.my_net is not configured here.*config/networks"),
    "another network": (with_network("vgg19"), r"images\.whole\.network: vgg19 there, scenes_net here"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_folder_is_refused_and_leaves_nothing_behind(what, exported, configured, empty):
    spoil, message = BAD[what]
    spoil(exported)
    with pytest.raises(InputError, match=message):
        import_model(exported, configured)
    assert not (empty / "resources").exists()


def test_a_model_of_other_settings_or_code_is_refused(exported, original, configured, empty):
    another = merge(WITH_SEARCH, {"methods": {"vse": {"parameters": {"margin": 0.123}}}})
    with pytest.raises(InputError, match=r"parameters\.margin: 0\.2 there, 0\.123 here"):
        import_model(exported, ConfiguredProject(original.folder, another))
    rewrite(exported, lambda records: records["settings"].update(code="0123456789abcdef"))
    with pytest.raises(InputError, match=r"code: 0123456789abcdef there, \w{16} here"):
        import_model(exported, configured)


def test_a_model_that_is_there_already_is_refused(exported, configured, empty):
    import_model(exported, configured)
    with pytest.raises(InputError, match=f"{IMPORTED}: a model of this data set, variant, seed and round is there"):
        import_model(exported, configured)
    (empty / "resources").rename(empty / "elsewhere")
    (empty / MODEL).parent.mkdir(parents=True)
    with pytest.raises(InputError, match="results/scenes/models/vse/seed0/round0: a model of this data set"):
        import_model(exported, configured)


def test_a_vocabulary_of_the_results_stays_and_another_one_is_refused(exported, configured, empty):
    words = empty / "results/scenes/vocabulary/words.parquet"
    words.parent.mkdir(parents=True)
    words.write_bytes(b"others")
    with pytest.raises(InputError, match=r"results/scenes/vocabulary/words\.parquet: another vocabulary than"):
        import_model(exported, configured)
    shutil.copy(exported / "vocabulary/words.parquet", words)
    place = import_model(exported, configured)
    assert (place / "model.safetensors").is_file()
    assert not (place / "vocabulary").exists()


def test_an_import_that_is_interrupted_leaves_nothing_half_written(exported, configured, empty, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("densevse.exchange.dag.shutil.copyfile", full)
    with pytest.raises(InputError, match=r"cannot write .*Make room there"):
        import_model(exported, configured)
    assert [path for path in (empty / "resources").rglob("*") if path.is_file()] == []
    assert not (empty / IMPORTED).exists()


@pytest.mark.slow
def test_the_command_exports_a_model(original, monkeypatch, capsys):
    monkeypatch.chdir(original.folder)
    assert main(["export", "vse", "--on", "scenes", "--configfile", "test.yaml", "--", "--quiet", "all"]) == 0
    assert capsys.readouterr().out.strip() == EXPORTED


def test_the_command_refuses_a_bad_folder_and_a_misspelt_variant(exported, empty, capsys):
    (exported / "model.safetensors").unlink()
    assert main(["import", str(exported)]) == 1
    assert "carried/model.safetensors: no such file" in capsys.readouterr().err
    assert main(["export", "vsep", "--on", "scenes"]) == 1
    assert "is 'vsepp' meant?" in capsys.readouterr().err


def test_only_a_model_with_one_vector_a_side_becomes_onnx(monkeypatch):
    monkeypatch.setattr("densevse.exchange.dag.check_extra", lambda *extra: None)
    stage = Stage(ConfiguredProject(ROOT, {}), dag)
    assert stage.onnx_weights("scenes", "vse")["network"] == "scenes_net"
    with pytest.raises(
        InputError, match=r"hm_lstm reads .*regions of images and .*trees.*Export this one without --onnx"
    ):
        stage.onnx_weights("scenes", "hm_lstm")


def test_a_users_own_weights_have_no_address(tmp_path):
    """F9: the address was that of the published weights, which have another checksum."""
    (tmp_path / "own.pth").write_bytes(b"")
    stage = Stage(ConfiguredProject(ROOT, {"networks": {"vgg19": {"local": str(tmp_path / "own.pth")}}}), dag)
    described = stage.export_job("flickr8k", "vse", 0, 0).settings["described"]
    assert described["weights"] == {"vgg19": "not stated: a file of the user's own"}
