"""`densevse search` uses a trained model, and trains none."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest

from densevse.analyses.searches.subcommand import TrainedModel, parse_model
from densevse.command.shared import PlannedJob, configuration, overrides
from snakeproof.statements import Statement
from tests.projects import hearing


@pytest.fixture(scope="module")
def config():
    return configuration(overrides([]))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model_file(folder, variant, round):
    file = folder / f"results/scenes/models/{variant}/seed3/round{round}/model.safetensors"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    return file


def test_a_model_is_named_by_data_set_and_variant_or_by_its_file(config, folder):
    assert parse_model("scenes/vse", config) == TrainedModel("scenes", "vse", None)
    file = model_file(folder, "hm_lstm", 2).relative_to(folder)
    assert parse_model(str(file), config) == TrainedModel("scenes", "hm_lstm", 3)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("vse", "such as scenes/vse"),
        ("scenes", "names a data set alone; write <data set>/<variant>, such as scenes/vse"),
        ("scenes/vsee", "is 'vse' meant?"),
        ("scene/vse", "is 'scenes' meant?"),
        ("nowhere/model.safetensors", "is not there"),
    ],
)
def test_a_model_that_there_is_none_of_is_refused(model, said, folder, densevse):
    answer = densevse("search", "a red ball", "--model", model)
    assert answer.status == 1
    assert said in answer.errors


def test_a_model_of_an_earlier_round_and_one_from_elsewhere_are_refused(folder, densevse):
    earlier = densevse("search", "a red ball", "--model", str(model_file(folder, "hm_lstm", 1)))
    assert earlier.status == 1
    assert "the last round of hm_lstm, 2" in earlier.errors


@pytest.mark.parametrize(
    "place",
    ["model.safetensors", "results/model.safetensors", "results/scenes/models/vse/backup/round0/model.safetensors"],
)
def test_a_model_that_lies_elsewhere_is_refused(place, folder, densevse):
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_bytes(b"")
    answer = densevse("search", "a red ball", "--model", place)
    assert answer.status == 1
    assert "is not in results" in answer.errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a red ball", "--top", "0"), "top: Input should be greater than or equal to 1, not 0"),
        (("",), "at least 1 character"),
        (("a red ball", "nowhere"), "photographs: nowhere is not there"),
        (("a red ball",), "vse is not trained on scenes"),
        ((), 'write a sentence in quotation marks, such as "a red ball", or --serve'),
        (("--serve",), "vse is not trained on scenes"),
        (("--serve", "--top", "0"), "top: Input should be greater than or equal to 1, not 0"),
        (("a red ball", "photographs", "--serve"), "--serve: 'a red ball' is one too many; type sentences on the page"),
    ],
)
def test_a_search_that_cannot_be_made_is_refused(arguments, said, folder, densevse):
    answer = densevse("search", *arguments, "--model", "scenes/vse")
    assert answer.status == 1
    assert said in answer.errors


def test_the_page_needs_its_extra(folder, densevse, monkeypatch):
    monkeypatch.setattr("densevse.config.environment.find_spec", lambda module: None)
    answer = densevse("search", "--serve", "--model", "scenes/vse")
    assert answer.status == 1
    assert "--serve needs werkzeug, which is not installed. Install it with `.venv/bin/python" in answer.errors
    assert "envs/install.py envs/locks/serve.txt` in" in answer.errors


def test_the_settings_in_which_a_model_differs_and_the_forgotten_file_are_named(folder, densevse, monkeypatch):
    file = folder / "results/scenes/models/vse/seed0/round0/model.safetensors"
    file.parent.mkdir(parents=True)
    file.touch()
    training = PlannedJob("train", {}, [], "train")
    monkeypatch.setattr("densevse.analyses.searches.subcommand.planned_jobs", lambda *_: [training])
    images = Statement(given={"reading": {"options": {"seed": 5}}})
    given = {"job": {"phases": [{"name": "main", "epochs": 2}]}}
    inputs = {"image_table": {"scenes/images.parquet": "an older one"}}
    there = Statement(given=given, inputs=inputs, above={"an older one": images.values()})
    monkeypatch.setattr("snakeproof.statements.read_statement", lambda _: there)
    errors = densevse("search", "a red ball", "--model", "scenes/vse").errors
    assert "results/scenes/models/vse/seed0/round0/model.safetensors differs in" in errors
    assert "  phases.0.epochs: 2 there, 4 today" in errors.splitlines()
    assert "  options.seed: 5 there, 0 today" in errors.splitlines()
    assert "name that file with --configfile" in errors


@pytest.mark.long
@pytest.mark.long
def test_photographs_are_found_for_a_sentence(finished, tmp_path):
    """The photographs are pictures of scenes; a second time nothing is computed."""
    photographs = tmp_path / "photographs"
    with zipfile.ZipFile(finished.folder / "resources/scenes/scenes.zip") as pictures:
        names = [name for name in pictures.namelist() if name.endswith((".png", ".jpg"))][:3]
        pictures.extractall(photographs, names)
    command = [sys.executable, "-m", "densevse", "search", "a red ball", str(photographs), "--model", "scenes/vse"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    asked = {"cwd": finished.folder, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([*command, "--configfile", "test.yaml", "--top", "2"], **asked)
    assert done.returncode == 0, done.stderr[-3000:]
    head, *rows = done.stdout.split("\n\n")[0].splitlines()
    assert head.split() == ["rank", "score", "image"]
    assert [row.split()[0] for row in rows] == ["1", "2"]
    assert {Path(row.split()[2]).name for row in rows} <= {Path(name).name for name in names}
    assert (finished.folder / done.stdout.rpartition(": ")[2].strip()).is_file()
    again = subprocess.run([*command, "--configfile", "test.yaml", "--top", "2"], **asked)
    assert again.stdout == done.stdout
    (own,) = (finished.folder / ".snakemake").glob("densevse-command-*.json")
    assert json.loads(own.read_text())["searches"]


@pytest.mark.long
def test_the_page_answers_as_the_command_does_until_ctrl_c(finished):
    given = ["--model", "scenes/vse", "--configfile", "test.yaml", "--top", "3"]
    command = [sys.executable, "-m", "densevse", "search"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    there = {"cwd": finished.folder, "env": environment, "stdout": subprocess.PIPE, "text": True}
    heard = hearing(signal.SIGINT)
    with subprocess.Popen([*command, "--serve", *given], **there, preexec_fn=heard) as page, ExitStack() as at_end:
        at_end.callback(page.kill)
        address = page.stdout.readline().split()[-1]
        with urlopen(f"{address}answers?sentence=a+red+ball") as reply:
            answers = json.load(reply)["answers"]
        with urlopen(f"{address}photographs/{answers[0]['row']}") as reply:
            assert reply.read(2) == b"\xff\xd8"
        page.send_signal(signal.SIGINT)
        assert page.wait(60) == 0
    printed = subprocess.run([*command, "a red ball", *given], **there, check=True).stdout
    rows = [line.split() for line in printed.split("\n\n")[0].splitlines()[1:]]
    assert [(str(one["rank"]), f"{one['score']:.3f}", one["image"]) for one in answers] == [tuple(row) for row in rows]
