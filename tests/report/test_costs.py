"""The costs of a run, printed and recorded for later estimates."""

import json
from base64 import b64encode

import pandas as pd
import pytest

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.report import costs as module
from densevse.report.costs import RECORDED_COLUMNS, cost_records, costs, record_costs, table, written_files
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import USED
from snakeproof.records import record_file


def write(folder, stage, name, seconds, processor, memory):
    log = folder / "logs" / stage / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"<time> INFO at work\n<time> INFO done in {USED.format(seconds, processor, memory)}\n")


def test_the_longest_and_the_largest_job_of_each_stage_and_data_set(tmp_path):
    write(tmp_path, "train", "flickr8k_vse_seed0_round0", 259.2, 300.5, 1666.9)
    write(tmp_path, "train", "flickr8k_vse_seed1_round0", 370.4, 400, 1003.3)
    write(tmp_path, "train", "flickr8k_vse_seed2_round0", 5, 6, 2003.3)
    write(tmp_path, "parse", "scenes-grammar-00-of-01", 0.4, 0.3, 90)
    write(tmp_path, "train", "scenes_vse_seed0_round0", 9, 8, 500)
    (tmp_path / "logs/train/scenes_vsepp_seed0_round0.log").write_text("<time> ERROR no such file\n")
    for name in ("flickr8k", "scenes", "my_own", "my"):
        (tmp_path / name).mkdir()
    write(tmp_path, "read_dataset", "my_own", 3, 2, 700)
    write(tmp_path, "train", "my_own_vse_seed0_round0", 3, 2, 700)
    write(tmp_path, "table", "sco_4", 3, 2, 700)
    rows = costs(tmp_path)
    others = rows[~rows["dataset"].isin(["flickr8k", "scenes"])]
    assert others[["stage", "dataset"]].values.tolist() == [
        ["read_dataset", "my_own"],
        ["table", "sco_4"],
        ["train", "my_own"],
    ]
    rows = rows[rows["dataset"].isin(["flickr8k", "scenes"])]
    assert rows[["stage", "dataset", "jobs"]].values.tolist() == [
        ["parse", "scenes", 1],
        ["train", "flickr8k", 3],
        ["train", "scenes", 1],
    ]
    assert rows["seconds"].tolist() == [0.4, 370.4, 9]
    assert rows["processor"].tolist() == [0.3, 706.5, 8]
    assert rows["memory"].tolist() == [90, 2003, 500]
    assert "| train | flickr8k |    3 |            370 |           706 |           2,003 |" in table(rows)


def test_nothing_measured_is_an_error(tmp_path):
    with pytest.raises(InputError, match="expected logs/<stage>"):
        costs(tmp_path)


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results"
    write(folder, "train", "scenes_vse_seed0_round0", 9, 8, 500)
    write(folder, "train", "scenes_vsepp_seed0_round0", 9, 10, 700)
    write(folder, "parse", "scenes-grammar-00-of-04", 3, 2, 90)
    write(folder, "table", "sco_4", 3, 2, 700)
    (folder / "scenes").mkdir()
    monkeypatch.setattr(module, "_count_images", lambda dataset: 100.0 if dataset.name == "scenes" else float("nan"))
    (folder / ".records-results").mkdir()
    for name, size in (("vse", 1000), ("vsepp", 3000)):
        path = f"results/scenes/{name}.safetensors"
        (tmp_path / path).write_bytes(bytes(size))
        record = {"rule": "train", "log": [f"results/logs/train/scenes_{name}_seed0_round0.log"]}
        (folder / ".records-results" / b64encode(path.encode()).decode()).write_text(json.dumps(record))
    return "results"


def test_a_row_is_the_mean_job_of_a_stage_on_a_data_set(results):
    rows = cost_records(results, "a machine").set_index(["stage", "dataset"])
    train = rows.loc[("train", "scenes")]
    assert (train["images"], train["jobs"], train["seconds"], train["memory"], train["bytes"]) == (100, 2, 9, 700, 2000)
    assert train["machine"] == "a machine"
    assert rows.loc[("parse", "scenes"), "images"] == 25, "a shard's"
    assert pd.isna(rows.loc[("table", "sco_4"), "images"])


def test_files_of_any_name_are_found_in_the_records(results, tmp_path):
    records = tmp_path / "results/.records-results"
    for name in ("日本", "ü" * 90):
        path = f"results/{name}/images.parquet"
        place = record_file(records, path)
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({"rule": "images", "log": ["results/logs/images/x.log"]}))
        assert (path, "results/logs/images/x.log") in set(written_files(results))


def test_what_is_recorded_again_takes_the_place_of_what_was(results, tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text(
        f"{','.join(RECORDED_COLUMNS)}\ntrain,coco,5,1,1,1,,old,2020-01-01\ntrain,scenes,5,1,1,1,,old,2020-01-01\n"
    )
    record_costs(cost_records(results, "new"), file)
    rows = pd.read_csv(file)
    assert list(rows.columns) == RECORDED_COLUMNS
    assert rows[["stage", "dataset", "machine"]].values.tolist() == [
        ["parse", "scenes", "new"],
        ["table", "sco_4", "new"],
        ["train", "coco", "old"],
        ["train", "scenes", "new"],
    ]


def test_the_images_of_a_data_set_are_counted(tmp_path):
    assert pd.isna(module._count_images(tmp_path))
    rows = pd.DataFrame(columns=[column.name for column in IMAGES.columns])
    schema.write(rows, IMAGES, tmp_path / "images.parquet")
    assert module._count_images(tmp_path) == 0
