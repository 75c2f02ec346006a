"""Networks in the workflow: concepts by clustered regions, the network of scenes, and zero-shot CLIP."""

import copy
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from safetensors.torch import load_file

from densevse.evaluation.recall import metrics_of
from tests import encoders
from tests.projects import SMALL
from tests.tiny_networks import CLIP, clip_model, save

SCENES = "results/scenes"
TRAINED = "results/scenes_pretraining/networks"
TABLE = "results/tables/clip.md"
FOUND_BY = "results/search/mine.parquet"


@pytest.fixture(scope="module")
def clustered(continue_project):
    values = copy.deepcopy(SMALL)
    values["proposers"] = {"few": {"kind": "clustered", "options": {"of": "selective_search_single", "boxes": 3}}}
    values["concept_networks"] = {"multi_label_scenes": {"proposer": "few"}}
    project = continue_project(values)
    project.run(f"{SCENES}/networks/multi_label_scenes_mean_average_precision.parquet")
    return project.folder / SCENES


def test_every_cluster_is_a_region_beside_the_whole_image(clustered):
    proposals = pd.read_parquet(clustered / "proposals/few/00-of-01.parquet")
    regions = pd.read_parquet(clustered / "features/scenes_net/regions-few/00-of-01.parquet")
    assert proposals.groupby("image_id").size().max() == 3
    parts = proposals[["width", "height"]].lt(96).any(axis=1)  # a proposal that is the whole image is no other region
    assert len(regions) == parts.sum() + regions["image_id"].nunique()


def test_concepts_have_a_precision_by_the_best_region_and_by_the_whole_image(clustered):
    mean = pd.read_parquet(clustered / "networks/multi_label_scenes_mean_average_precision.parquet")
    assert mean["split"].tolist() == ["val", "test"]
    assert mean[["best_region", "whole_image"]].gt(mean["frequency"], axis=0).any(axis=None)
    assert mean[["best_region", "whole_image"]].le(1).all(axis=None)


@pytest.mark.long
def test_it_is_trained_and_released_with_a_card(continue_project):
    values = copy.deepcopy(SMALL)
    pictures = {"options": {"images": {"train": 24, "val": 8, "test": 1}}}
    values["datasets"] = {**values["datasets"], "scenes_pretraining": pictures}
    values["networks"] = {"scenes_net": {"phases": {"rise": {"epochs": 1}, "fall": {"epochs": 1}}}}
    project = continue_project(values)
    project.run(f"{TRAINED}/released/scenes_net.safetensors")
    files = (project.folder / TRAINED / f"{name}.safetensors" for name in ("scenes_net", "released/scenes_net"))
    trained, released = map(load_file, files)
    assert released.keys() == trained.keys()
    assert "24 pictures" in (project.folder / TRAINED / "released/scenes_net.md").read_text()


def with_clip() -> dict:
    values = copy.deepcopy(SMALL)
    values["networks"] = {"clip_tiny": {**CLIP, "local": "clip.safetensors"}}
    values["methods"]["clip"] = {"networks": {"whole": "clip_tiny"}}
    table = {"title": "Zero-shot", "sections": [{"dataset": "scenes"}], "measure": ["vse", "clip"], "reference": "vse"}
    values["tables"]["clip"] = table
    # A data set of which nothing is there, and whose photographs must be requested.
    asked = {"dataset": "flickr30k", "variant": "clip", "photographs": "photographs", "sentences": ["a red circle"]}
    values["searches"] = {"mine": asked}
    return values


@pytest.mark.long
def test_clip_is_a_row_and_answers_searches_without_training(continue_project):
    project = continue_project(with_clip())
    save(clip_model(), project.folder / "clip.safetensors")
    (project.folder / "photographs").mkdir()
    for number in range(3):
        pixels = np.random.default_rng(number).integers(256, size=(70 + number, 90, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(project.folder / f"photographs/{number}.png")
    planned = project.planned(TABLE, FOUND_BY)
    assert not {"train", "count_words", "download", "download_from_hub", "obtain_by_hand"} & planned.keys()
    project.run(TABLE, FOUND_BY)
    rows = pd.read_csv(project.folder / "results/tables/clip.csv", dtype=str)
    assert rows["variant"].dropna().tolist() == ["random", "vse", "clip"]
    text = (project.folder / TABLE).read_text()
    assert "none, as nothing is trained (clip)" in text
    assert "clip_tiny is open_clip:ViT-B-32, weights from clip.safetensors, fp32" in text
    found = pd.read_parquet(project.folder / FOUND_BY)
    assert sorted(found["image_id"]) == ["0.png", "1.png", "2.png"]
    assert found["score"].is_monotonic_decreasing
    assert not any(map(len, found["unknown_words"]))
    assert {path.name for path in (project.folder / "results/flickr30k").iterdir()} == {"models"}
    assert project.planned(TABLE, FOUND_BY) == {}


@pytest.mark.long
def test_a_network_is_measured_by_one_line(continue_project):
    project = continue_project(with_clip())
    save(clip_model(), project.folder / "clip.safetensors")
    (project.folder / "photographs").mkdir()
    command = [sys.executable, "-m", "densevse", "evaluate", "--model", "clip_tiny", "--data", "test.yaml"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    asked = {"cwd": project.folder, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([*command, "--intervals"], **asked)
    assert done.returncode == 0, done.stderr[-3000:]
    (ranks,) = project.folder.glob("results/scenes/retrieval/full/command-clip_tiny-*/seed0/round0.parquet")
    found = metrics_of(pd.read_parquet(ranks))
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:]}
    assert {"low", "high"} <= rows.keys()
    assert rows["i2t"][:3] == [f"{found[f'i2t_r{k}']:.1f}" for k in (1, 5, 10)]
    assert rows["rsum"][0] == f"{found['rsum']:.1f}"
    made = {file: file.stat().st_mtime_ns for file in project.folder.glob("results/scenes/**/*.*")}
    again = subprocess.run([*command, "--intervals"], **asked)
    assert again.stdout == done.stdout
    assert {file: file.stat().st_mtime_ns for file in project.folder.glob("results/scenes/**/*.*")} == made


@pytest.mark.long
def test_an_encoder_in_a_folder_is_a_row_by_one_line(continue_project):
    pytest.importorskip("sentence_transformers", minversion="6")
    values = copy.deepcopy(SMALL)
    encoder = {"architecture": "sentence_transformers:colpali", "layers": {"whole": "pooled"}}
    values["networks"] = {"folder": encoder}
    values["methods"]["mine"] = {"given": {"network": "folder", "similarity": "max_sum"}}
    table = {"title": "Folders", "sections": [{"dataset": "scenes"}], "measure": ["vse", "mine"], "reference": "vse"}
    values["tables"]["folders"] = table
    project = continue_project(values)
    encoders.colpali(project.folder / "colpali")
    project.run("results/tables/folders.md")
    text = (project.folder / "results/tables/folders.md").read_text()
    assert "architecture sentence_transformers:colpali, prompt of sentences query ''" in text
    assert project.planned("results/tables/folders.md") == {}
    (project.folder / "colpali/processor_config.json").write_text(
        (project.folder / "colpali/processor_config.json").read_text() + "\n"
    )
    assert project.planned("results/tables/folders.md")["encode_test_split"] == 1
