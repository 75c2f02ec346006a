"""The costs of a run are recorded for later estimates."""

import json
from base64 import b64encode

import pandas as pd
import pytest

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report import recorded_costs
from densevse.report.recorded_costs import COLUMNS, keep, recorded
from tests.report.test_costs import write


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results"
    write(folder, "train", "scenes_vse_seed0_round0", 9, 8, 500)
    write(folder, "train", "scenes_vsepp_seed0_round0", 9, 10, 700)
    write(folder, "parse", "scenes-grammar-00-of-04", 3, 2, 90)
    write(folder, "table", "sco_4", 3, 2, 700)
    (folder / "scenes").mkdir()
    monkeypatch.setattr(recorded_costs, "_images", lambda dataset: 100.0 if dataset.name == "scenes" else float("nan"))
    (folder / ".records-results").mkdir()
    for name, size in (("vse", 1000), ("vsepp", 3000)):
        path = f"results/scenes/{name}.safetensors"
        (tmp_path / path).write_bytes(bytes(size))
        record = {"rule": "train", "log": [f"results/logs/train/scenes_{name}_seed0_round0.log"]}
        (folder / ".records-results" / b64encode(path.encode()).decode()).write_text(json.dumps(record))
    return "results"


def test_a_row_is_the_mean_job_of_a_stage_on_a_data_set(results):
    rows = recorded(results, "a machine").set_index(["stage", "dataset"])
    train = rows.loc[("train", "scenes")]
    assert (train["images"], train["jobs"], train["seconds"], train["memory"], train["bytes"]) == (100, 2, 9, 700, 2000)
    assert train["machine"] == "a machine"
    assert rows.loc[("parse", "scenes"), "images"] == 25, "a shard's"
    assert pd.isna(rows.loc[("table", "sco_4"), "images"])


def test_what_is_recorded_again_takes_the_place_of_what_was(results, tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text(f"{','.join(COLUMNS)}\ntrain,coco,5,1,1,1,,old,2020-01-01\ntrain,scenes,5,1,1,1,,old,2020-01-01\n")
    keep(recorded(results, "new"), file)
    rows = pd.read_csv(file)
    assert list(rows.columns) == COLUMNS
    assert rows[["stage", "dataset", "machine"]].values.tolist() == [
        ["parse", "scenes", "new"],
        ["table", "sco_4", "new"],
        ["train", "coco", "old"],
        ["train", "scenes", "new"],
    ]


def test_the_images_of_a_data_set_are_counted(tmp_path):
    assert pd.isna(recorded_costs._images(tmp_path))
    rows = pd.DataFrame(columns=[column.name for column in IMAGES.columns])
    schema.write(rows, IMAGES, tmp_path / "images.parquet", {})
    assert recorded_costs._images(tmp_path) == 0
