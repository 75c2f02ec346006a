import pytest

TABLES = ["flickr8k", "flickr30k", "coco_1k", "coco_5k", "pascal1k", "scenes"]


@pytest.fixture(scope="module")
def empty(make_project):
    return make_project({})


@pytest.mark.parametrize("table", TABLES)
def test_every_table_can_be_planned_with_no_data_present(empty, table):
    planned = empty.planned(f"results/tables/{table}.md")
    assert {"read_dataset", "extract_features", "count_words", "train", "retrieve", "table"} <= set(planned)


def test_rounds_of_correspondences_are_all_in_the_plan(empty):
    planned = empty.planned("results/flickr30k/models/hm_lstm/seed0/round3/model.safetensors")
    assert (planned["train"], planned["train_round"], planned["correspond"]) == (1, 3, 3)


def test_more_shards_are_more_jobs(make_project):
    project = make_project({"datasets": {"flickr8k": {"shards": 7, "compare": ["vse"]}}})
    assert project.planned("results/tables/flickr8k.md")["extract_features"] == 7


def test_a_key_that_does_not_exist_stops_the_run_and_is_named(make_project):
    project = make_project({"datasets": {"scenes": {"shard": 3}}})
    done = project.run("--dry-run", "results/tables/scenes.md", check=False)
    assert done.returncode != 0
    assert "datasets.scenes.shard" in done.stdout


def test_own_files_are_used_and_not_downloaded(make_project, tmp_path):
    (tmp_path / "text.zip").write_bytes(b"")
    (tmp_path / "images").mkdir()
    local = {"images": str(tmp_path / "images"), "text": str(tmp_path / "text.zip")}
    project = make_project({"datasets": {"flickr8k": {"local": local, "compare": ["vse"]}}})
    planned = project.planned("results/flickr8k/images.parquet")
    assert planned == {"read_dataset": 1}
