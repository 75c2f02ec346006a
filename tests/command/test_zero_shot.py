"""`densevse evaluate --model`: what it asks the workflow for, and what it refuses. test_networks_run.py runs it."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from densevse.command import zero_shot
from densevse.command.shared import configuration, overrides
from snakeproof.errors import InputError

DATA = """
datasets:
  mine: {title: My tars, reader: webdataset, local: {shards: tars}, options: {files: {test: "*.tar"}}}
"""
TWO = "datasets: {scenes: {}, pascal1k: {}}"
OWN = "datasets: {scenes: {}}\nnetworks: {mine: {architecture: 'open_clip:RN50', local: w, layers: {whole: pooled}}}"
FOLDER = ("--model", "sentence_transformers:folder", "--data", "mine.yaml")
NAMED = ("--model", "open_clip:ViT-B-32", "--weights", "w")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data sets, weights and a tokenizer."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tars").mkdir()
    for name, text in {"mine.yaml": DATA, "two.yaml": TWO, "own.yaml": OWN, "w": "", "tokenizer.json": ""}.items():
        Path(name).write_text(text)


@pytest.fixture
def made(monkeypatch):
    """The calls of the workflow, which fail."""
    calls = []
    monkeypatch.setattr("densevse.command.zero_shot.make_targets", lambda *asked: calls.append(asked) or False)
    return calls


def test_the_row_is_configured_beside_the_data_set(folder, made, densevse):
    given = ("--data", "mine.yaml", "--tokenizer", "tokenizer.json", "--pad", "</s>", "--protocol", "five_folds")
    answer = densevse("evaluate", "--model", "open_clip:ViT-B-16-SigLIP", "--weights", "w", *given, "--cores", "3")
    assert answer.status == 1
    assert "a job of open_clip:ViT-B-16-SigLIP on mine failed; its message is above" in answer.errors
    ((targets, files, cores),) = made
    (own,) = Path(".snakemake").glob("densevse-command-ViT-B-16-SigLIP-*-mine.json")
    assert (files, cores) == (["mine.yaml", str(own)], "3")
    (name,) = json.loads(own.read_text())["networks"]
    assert targets == [f"results/mine/retrieval/five_folds/{name}/seed0/round0.parquet"]
    config = configuration(overrides(files))
    network = config.networks[name]
    assert (network.architecture, network.local, network.precision) == ("open_clip:ViT-B-16-SigLIP", "w", "fp32")
    assert network.dtype == "float32", "so that ranks are those of the library"
    assert (network.tokenizer.local, network.tokenizer.pad) == ("tokenizer.json", "</s>")
    assert config.methods["clip"].variants[name].networks == {"whole": name}


@pytest.mark.parametrize(
    ("architecture", "asked", "similarity"),
    [
        ("SiglipModel", (), "cosine"),
        ("SiglipModel", ("--similarity", "dot"), "dot"),
        ("ColPaliForRetrieval", (), "max_sum"),
        ("ColPaliForRetrieval", ("--similarity", "max_sum_of_query"), "max_sum_of_query"),
    ],
)
def test_an_encoder_in_a_folder_is_a_given_row(folder, made, densevse, architecture, asked, similarity):
    Path("folder").mkdir()
    Path("folder/model.safetensors").write_text("")
    Path("folder/config.json").write_text(json.dumps({"architectures": [architecture]}))
    densevse("evaluate", *FOLDER, *asked)
    ((targets, files, _),) = made
    config = configuration(overrides(files))
    ((name, row),) = [(name, row) for name, row in config.given_rows().items() if "command" in name]
    assert (row.given.network, row.given.similarity) == (name, similarity)
    assert config.networks[name].folder == "folder"
    assert targets == [f"results/mine/retrieval/full/{name}/seed0/given.parquet"]


def test_a_network_of_the_configuration_is_asked_by_its_name(folder, made, densevse):
    densevse("evaluate", "--model", "mine", "--data", "own.yaml")
    densevse("evaluate", "--model", "clip_vit_b_32", "--data", "own.yaml")
    config = configuration(overrides([*made[0][1], made[1][1][1]]))
    assert [one.networks for name, one in config.methods["clip"].variants.items() if "command" in name] == [
        {"whole": "mine"},
        {"whole": "clip_vit_b_32"},
    ]
    assert made[0][2] == "all"


def test_the_language_is_that_of_the_data_set(folder, monkeypatch):
    for name, found in {"make_targets": True, "select_split": None, "retrieval_metrics": {}}.items():
        monkeypatch.setattr(zero_shot, name, lambda *_, found=found, **__: found)
    monkeypatch.setattr(zero_shot.schema, "read", lambda *_: None)
    Path("german.yaml").write_text(DATA.replace("title: My tars", "title: Meine, language: deu-Latn"))
    others = {"tokenizer": None, "pad": None, "similarity": None, "cores": None, "protocol": "full", "intervals": False}
    asked = {"model": "open_clip:ViT-B-32", "weights": "w", **others}
    for data, named, expected in (("mine", None, "eng-Latn"), ("german", None, "deu-Latn"), ("german", "x", "x")):
        measured, _ = zero_shot.evaluate_zero_shot(Namespace(data=f"{data}.yaml", language=named, **asked))
        assert measured.language == expected
    Path("german.yaml").write_text(DATA.replace("title: My tars", "title: Meine, language: German"))
    with pytest.raises(InputError, match="language"):
        zero_shot.evaluate_zero_shot(Namespace(data="german.yaml", language=None, **asked))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "sentence_transformers:none", "--data", "mine.yaml"), "none: there is no such folder; name the"),
        (("--model", "sentence_transformers:tars", "--data", "mine.yaml"), "tars: it has no weights in safetensors"),
        ((*FOLDER, "--weights", "w"), "--weights: the folder of --model has everything; leave --weights out"),
        (NAMED, "--data: name a YAML file with a data set, as docs/data_sets.md shows"),
        ((*NAMED, "--data", "none.yaml"), "--data: none.yaml is not there; name a YAML file"),
        ((*NAMED, "--data", "two.yaml"), "must have one entry below `datasets`, not 2: scenes, pascal1k"),
        ((*NAMED, "--data", "tokenizer.json"), "--data: tokenizer.json holds no keys"),
        ((*NAMED[:2], "--data", "mine.yaml"), "--weights: name the file of open_clip:ViT-B-32's weights"),
        ((*NAMED[:2], "--weights", "v", "--data", "mine.yaml"), "--weights: v is not there; correct the path"),
        ((*NAMED, "--tokenizer", "v", "--data", "mine.yaml"), "--tokenizer: v is not there; correct the path"),
        ((*NAMED, "--pad", "x", "--data", "mine.yaml"), "--pad: it is a token of a --tokenizer; name its file"),
        (("--model", "timm:vit", *NAMED[2:], "--data", "mine.yaml"), "--model: timm:vit encodes no sentences"),
        (("--model", "vgg19", "--data", "mine.yaml"), "--model: vgg19 encodes no sentences"),
        (("--model", "clip_vit", "--data", "mine.yaml"), "no network 'clip_vit'"),
        (("--model", "openclip:x", *NAMED[2:], "--data", "mine.yaml"), "is 'open_clip' meant?"),
        (("--model", "mine", *NAMED[2:], "--data", "own.yaml"), "names the files of mine; leave out --weights, or"),
        (("sims.npy", *NAMED, "--similarity", "dot"), "its scores are computed here; leave out sims.npy, --similarity"),
        ((*NAMED, "--at", "1,2"), "its scores are computed here; leave out --at"),
        (("sims.npy", "--per-image", "5", "--weights", "w"), "--weights: only with --model; add it, or leave this out"),
    ],
)
def test_what_contradicts_or_lacks_is_named(folder, made, densevse, arguments, said):
    answer = densevse("evaluate", *arguments)
    assert answer.status == 1
    assert said in answer.errors
    assert not made


def test_right_answers_are_those_of_the_data_set(folder, densevse):
    answer = densevse("evaluate", *NAMED, "--data", "mine.yaml", "--per-image", "5")
    assert answer.status == 2
    assert "not allowed with argument" in answer.errors


def test_extras_are_named(folder, densevse, monkeypatch):
    monkeypatch.setattr("densevse.config.environment.find_spec", lambda module: None)
    answer = densevse("evaluate", *NAMED, "--data", "mine.yaml")
    assert "--model needs snakemake" in answer.errors
    assert "Run `make environment` in" in answer.errors
    monkeypatch.setattr("densevse.config.environment.find_spec", lambda module: module == "snakemake" or None)
    answer = densevse("evaluate", *NAMED, "--data", "mine.yaml")
    assert "--model needs open_clip" in answer.errors
    assert "Install it with `.venv/bin/python envs/install.py envs/locks/networks.txt` in" in answer.errors
