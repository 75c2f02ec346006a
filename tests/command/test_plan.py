"""`densevse plan` prints what a run would do, and `densevse run` does it."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from densevse.command.shared import PlannedJob, planned_jobs, snakemake, stage_of
from densevse.command.subcommands.plan import works
from tests.cases import first_now

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_jobs_stages_downloads_and_instructions(folder, densevse):
    answer = densevse("plan", "results/tables/flickr30k.md")
    assert answer.status == 0, answer.errors
    rows = {line.split()[0]: line.split() for line in answer.lines if line and not line.startswith(" ")}
    assert rows["extract_regions"][1:3] == ["flickr30k", "12"]
    assert rows["table"][1:3] == ["-", "1"]
    assert rows["choose_precision"][-2:] == ["never", "recorded"]
    assert "download" not in rows
    assert "  resources/word2vec/GoogleNews-vectors-negative300.bin.gz" in answer.output
    by_hand = answer.output.partition("To obtain by hand:\n")[2]
    assert by_hand.startswith("  resources/flickr30k/flickr30k-images.tar.gz\n    Fill in the form at https://")
    text = " ".join(answer.output.split())
    assert "This is an estimate: costs were recorded on" in text
    assert not list(Path("results").glob("[!.]*")), "a plan makes nothing but the hidden folder of records"


@pytest.mark.long
def test_the_jobs_are_those_of_a_dry_run(folder):
    jobs = planned_jobs(["results/tables/scenes.md"], [], "results")
    command = snakemake(["results/tables/scenes.md"], [], "--dry-run")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (total,) = {line.split()[1] for line in (done.stdout + done.stderr).splitlines() if line.startswith("total ")}
    assert len(jobs) == int(total)


@pytest.mark.parametrize(
    ("target", "said"),
    first_now(
        [
            ("results/tables/flickr30.md", "is 'results/tables/flickr30k.md' meant?"),
            ("al", "is 'all' meant?"),
            ("", "A target is empty; name a file or a rule."),
            ("/nowhere", "/nowhere: no rule makes this; docs/artifacts.md lists the paths."),
        ]
    ),
)
def test_a_misspelt_target_is_answered_with_the_near_one(target, said, folder, densevse):
    answer = densevse("plan", target)
    assert answer.status == 1
    assert said in answer.errors
    assert len(answer.errors.splitlines()) == 1


@pytest.mark.long
def test_run_is_snakemake_and_passes_options_on(folder):
    Path("mine.yaml").write_text(yaml.safe_dump({"tables": {"scenes": {"measure": ["vse"]}}}))
    command = [sys.executable, "-m", "densevse", "run", "results/tables/scenes.md", "--configfile", "mine.yaml"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    run = [*command, "--cores", "1", "--", "--dry-run"]
    done = subprocess.run(run, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout + done.stderr
    assert "vsepp" not in done.stdout + done.stderr


def test_run_names_a_configuration_that_is_not_there(densevse):
    answer = densevse("run", "--configfile", "nowhere.yaml")
    assert answer.status == 1
    assert "nowhere.yaml is not there" in answer.errors


@pytest.mark.parametrize(
    ("logs", "stage"),
    [
        (["out/logs/logs/train/scenes_vse.log"], "train"),
        (["out/logs/logs/download.log"], "download"),
        ([], "train_round"),
    ],
)
def test_a_stage_is_the_folder_of_its_logs_whatever_the_results_are_called(logs, stage):
    assert stage_of("train_round", logs, "out/logs") == stage


def test_jobs_are_counted_by_stage_and_data_set(tmp_path):
    from densevse.command.shared import configuration, overrides

    config = configuration(overrides([]))
    shard = {"dataset": "flickr30k", "shard": "00-of-06"}
    jobs = [
        PlannedJob("train", {"dataset": "scenes"}, ["a"], "train"),
        PlannedJob("train_round", {"dataset": "scenes"}, ["b"], "train"),
        PlannedJob("parse", shard, ["c"], "parse"),
        PlannedJob("table", {"table": "scenes"}, ["d"], "table"),
    ]
    found = [work[:3] for work in works(jobs, config)]
    assert found == [("parse", "flickr30k", 1), ("table", "", 1), ("train", "scenes", 2)]
    assert works(jobs, config)[0].images == round(config.datasets["flickr30k"].about_images / 6)
