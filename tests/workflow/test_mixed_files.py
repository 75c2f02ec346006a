"""Files of two runs in one folder of results, and files that changed behind Snakemake's back, give no table."""

import copy
import os
import shutil

import pytest

from tests.projects import SMALL, SMALL_ROUNDS

TABLE, CAPTIONS, IMAGES = (
    f"results/{name}" for name in ("tables/scenes.md", "scenes/captions.parquet", "scenes/images.parquet")
)
RETRIEVAL = "results/scenes/retrieval/full/vsepp/seed0/round0.parquet"
ANOTHER_SEED = copy.deepcopy(SMALL)
ANOTHER_SEED["datasets"]["scenes"]["options"]["seed"] = 7
ANOTHER_PRECISION = copy.deepcopy(SMALL)
ANOTHER_PRECISION["networks"] = {"scenes_net": {"precision": "bf16"}}

FEWER_EPOCHS = copy.deepcopy(SMALL)
FEWER_EPOCHS["methods"]["vse"]["parameters"] = {"margin": 0.3}

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def other(continue_project):
    """A finished project whose scenes were drawn with another seed."""
    project = continue_project(ANOTHER_SEED)
    project.run(TABLE)
    return project


def put(file, source, project):
    """Puts a file of one project in the place of another's, with the time of the one that it replaces."""
    place = project.folder / file
    status = place.stat()
    shutil.copyfile(source.folder / file, place)
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def refused(project, *options):
    """The output of Snakemake, which compares nothing but times, and fails to make the table anew."""
    for path in (project.folder / "results/tables").glob("scenes.*"):
        path.unlink()
    done = project.run(TABLE, "--rerun-triggers=mtime", *options, check=False)
    assert done.returncode, done.stdout[-3000:]
    assert not (project.folder / TABLE).exists()
    return done.stdout


def test_captions_that_were_made_again_alone(continue_project, other):
    project = continue_project(ANOTHER_SEED)
    for file in (CAPTIONS, IMAGES):
        put(file, other, project)
    found = refused(project)
    assert f"{CAPTIONS}: another file of that name was read than it has now" in found


def test_a_retrieval_of_another_seed(continue_project, other):
    project = continue_project(SMALL)
    put(RETRIEVAL, other, project)
    assert "another file of that name was read than" in refused(project)


def test_settings_that_changed_unseen(continue_project):
    project = continue_project(ANOTHER_SEED)
    assert "datasets.scenes, options: the table says" in refused(project)
    project.configure(ANOTHER_PRECISION)
    assert "network scenes_net, precision: the table says bf16" in refused(project)


def test_a_model_of_a_later_round_in_place_of_the_first(finished_rounds, tmp_path):
    project = finished_rounds.copy(tmp_path / "project", SMALL_ROUNDS)
    models = project.folder / "results/scenes/models/hm_lstm/seed0"
    first = models / "round0/model.safetensors"
    status = first.stat()
    shutil.copyfile(models / "round1/model.safetensors", first)
    os.utime(first, ns=(status.st_atime_ns, status.st_mtime_ns))
    for path in (models / "round1/model.safetensors", models / "round1/history.parquet"):
        path.unlink()
    done = project.run("results/scenes/models/hm_lstm/seed0/round1/model.safetensors", check=False)
    assert done.returncode
    assert "round0/model.safetensors: expected the model of round 0, found that of round 1" in done.stdout


def test_records_that_are_lost_in_part(continue_project):
    project = continue_project(FEWER_EPOCHS)
    records = sorted(path for path in (project.folder / "results/.records-results").rglob("*") if path.is_file())
    for number, path in enumerate(records[::2]):
        path.write_bytes((b"", b"null", path.read_bytes()[:40], b"\0" * 80)[number % 4])
    status, text = project.plan(TABLE)
    assert status
    assert "no record can be read of how these files were made:\n  results/" in text
