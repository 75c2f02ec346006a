"""`make gpu-check` on folders that are made up, and on the pretended device; no GPU is here to run it on."""

import os
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
import torch

from densevse.artifacts.identity import read_identity
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.load import load, variant
from densevse.models.retrieval import retrieve_test
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import USED
from snakeproof.statements import Statement, making
from tests.command.test_compare import data_set, retrieve
from tests.device.conftest import compute_on, made
from tests.device.files import files_of
from tests.device.test_methods import CONFIG, DATASET, job_of
from tests.devices import COUNTS, PRETENDED
from tests.trainings import train_method
from tools.environments import ROOT
from tools.gpu_check.comparing import compare_devices, document
from tools.gpu_check.whole import settings

__all__ = ["compute_on", "made"]

SEEDS = (0, 1, 2)


def computed(file, **made_with):
    """The same retrieval, made on these devices."""
    found = {**read_identity(file).values(), "device": "cpu", "trained_on": "cpu", **made_with}
    schema.write(schema.read(file, RETRIEVAL), RETRIEVAL, file, **found)


def folder_of(folder, random, seconds, worse=0, seeds=SEEDS, **made_with):
    """Results of one method, with histories and logs."""
    place = data_set(folder)
    for seed in seeds:
        computed(retrieve(place, "vse", random + seed, seed, worse=worse), **made_with)
        model = place / f"models/vse/seed{seed}/round0"
        model.mkdir(parents=True)
        pd.DataFrame({"seconds": [seconds / 2, seconds / 2]}).to_parquet(model / "history.parquet")
        write_log(folder, f"mine_vse_seed{seed}", seconds)
    return folder


def write_log(folder, name, seconds):
    log = folder / f"logs/train/{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"a INFO done in {USED.format(seconds, seconds, 100)}\n")


GPU = {"device": "cuda", "trained_on": "cuda"}


def test_equal_figures_agree_and_times_are_divided(tmp_path):
    folders = folder_of(tmp_path / "cpu", 0, 10.0), folder_of(tmp_path / "gpu", 0, 2.0, **GPU)
    (row,) = compare_devices(*folders)
    assert row.difference == 0
    assert row.agrees
    assert row.seconds == (30, 6)
    page = document([row], *folders, ("a processor", "a card")).markdown()
    assert page.startswith("# GPU check: a card\n")
    lines = [re.split(r"\s*\|\s*", line.strip("| ")) for line in page.splitlines() if line.startswith("|")]
    assert ["vse", *lines[2][1:3], "+0.0", lines[2][4], "yes", "30 s", "6 s", "5.0"] == lines[2]
    assert ["train", "3", "30", "6", "5.0"] in lines
    assert "within what seeds allow: every row" in page


def test_a_gpu_that_ranks_worse_than_seeds_allow_is_told(tmp_path):
    folders = folder_of(tmp_path / "cpu", 0, 1.0), folder_of(tmp_path / "gpu", 7, 1.0, worse=3, **GPU)
    (row,) = compare_devices(*folders)
    assert row.difference < -row.allowed_difference < 0
    page = document([row], *folders, ("a processor", "a card")).markdown()
    assert "outside what seeds allow: vse on mine, protocol full" in page


def test_other_draws_of_the_same_ranks_agree(tmp_path):
    folders = folder_of(tmp_path / "cpu", 0, 1.0), folder_of(tmp_path / "gpu", 7, 1.0, **GPU)
    (row,) = compare_devices(*folders)
    assert 0 < abs(row.difference) < row.allowed_difference


def test_folders_that_cannot_be_compared_are_refused_by_name(tmp_path):
    cpu, gpu = folder_of(tmp_path / "cpu", 0, 1.0), folder_of(tmp_path / "gpu", 0, 1.0, **GPU)
    with pytest.raises(InputError, match=r"trained on cpu and ranked on cpu, and stands for the GPU"):
        compare_devices(cpu, shutil.copytree(cpu, tmp_path / "another"))
    with pytest.raises(InputError, match=r"trained on cuda and ranked on cuda, and stands for the CPU"):
        compare_devices(gpu, gpu)
    computed(gpu / "mine/retrieval/full/vse/seed1/round0.parquet", trained_on="cpu", device="cuda")
    with pytest.raises(InputError, match=r"seed1/round0\.parquet: was trained on cpu and ranked on cuda"):
        compare_devices(cpu, gpu)
    with pytest.raises(InputError, match=r"seeds 0, 1, 2 on the CPU and seed 0 on the GPU"):
        compare_devices(cpu, folder_of(tmp_path / "one", 0, 1.0, seeds=(0,), **GPU))
    retrieve(cpu / "mine", "vsepp", 0)
    with pytest.raises(InputError, match="in one alone: vsepp on mine"):
        compare_devices(cpu, gpu)


def test_a_run_has_the_demos_table_with_its_seeds_in_a_folder_of_its_own(tmp_path):
    config = load(ROOT / "config", settings(tmp_path, 1, 4, 2))
    assert (config.results, config.gpu, config.jobs_per_gpu) == (str(tmp_path), 1, 2)
    assert config.datasets["scenes"].seeds == [0, 1, 2, 3]
    assert [section.seeds for section in config.tables["scenes"].sections] == [None]


@pytest.mark.slow
def test_without_a_card_the_check_says_what_is_missing_and_makes_nothing(tmp_path):
    command = [sys.executable, "-m", "tools.gpu_check", "--page", str(tmp_path / "page.md")]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert re.match(r"gpu-check: gpu: 1 requested, but this job sees 0.*; torch .* is built for", done.stderr), (
        done.stderr
    )
    assert not list(tmp_path.iterdir())


def test_a_method_on_the_pretended_device_agrees_with_the_cpu(made, tmp_path, compute_on):
    entry = variant(CONFIG, DATASET, "vse")
    files = files_of(made, entry.views, entry.sentences, entry.dependencies, entry.word_vectors)
    folders = [(tmp_path / device.type, device) for device in (torch.device("cpu"), PRETENDED)]
    for folder, device in folders:
        compute_on(device)
        shutil.copytree(made, folder / "mine", ignore=lambda *_: ["pictures"])
        for seed in (0, 1):
            of = {"dataset": "mine", "variant": "vse", "seed": seed, "round": 0, "protocol": "full"}
            model = folder / f"mine/models/vse/seed{seed}/round0/model.safetensors"
            train_method(
                files, job_of(entry).model_copy(update={"seed": seed}), model, model.with_name("history.parquet")
            )
            path = folder / f"mine/retrieval/full/vse/seed{seed}/round0.parquet"
            with making(Statement(wildcards=of)):
                named = {"seed": str(seed), "round": "0", "protocol": "full"}
                retrieve_test(str(model), "all", 3, 1, named, str(path), **files.paths_by_input())
            write_log(folder, f"mine_vse_seed{seed}_round0", 3.0)
    assert COUNTS.launches  # it was computed there
    (row,) = compare_devices(folders[0][0], folders[1][0])
    assert row.difference == pytest.approx(0, abs=1e-6)
    assert row.agrees
    assert min(row.seconds) > 0
