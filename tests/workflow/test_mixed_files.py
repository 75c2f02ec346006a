"""Files of two runs in one folder of results, and files that changed behind Snakemake's back, give no wrong table."""

import copy
import os
import shutil
import subprocess
import time

import pytest

from tests.projects import SMALL, SMALL_ROUNDS

TABLE, CAPTIONS, IMAGES = (
    f"results/{name}" for name in ("tables/scenes.md", "scenes/captions.parquet", "scenes/images.parquet")
)
RETRIEVAL = "results/scenes/retrieval/full/vsepp/seed0/round0.parquet"
MODEL = "results/scenes/models/vse/seed0/round0/model.safetensors"
ANOTHER_MARGIN = copy.deepcopy(SMALL)
ANOTHER_MARGIN["methods"]["vse"]["parameters"] = {"margin": 0.3}
ANOTHER_SEED = copy.deepcopy(SMALL)
ANOTHER_SEED["datasets"]["scenes"]["options"]["seed"] = 7
ANOTHER_PRECISION = copy.deepcopy(SMALL)
ANOTHER_PRECISION["networks"] = {"scenes_net": {"precision": "bf16"}}

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


def remade(project):
    """The paths that a run makes again, and the table's numbers."""
    before = {path: path.read_bytes() for path in (project.folder / "results/scenes").rglob("*.parquet")}
    project.run(TABLE)
    changed = {path for path, content in before.items() if path.read_bytes() != content}
    return {str(path.relative_to(project.folder)) for path in changed}, numbers(project)


def numbers(project):
    return (project.folder / "results/tables/scenes.csv").read_text()


def test_captions_of_another_seed(continue_project, other):
    project = continue_project(SMALL)
    right = numbers(project)
    for file in (CAPTIONS, IMAGES):
        put(file, other, project)
    changed, found = remade(project)
    assert changed == {CAPTIONS, IMAGES}
    assert found == right


def test_a_retrieval_of_another_seed(continue_project, other):
    project = continue_project(SMALL)
    right = numbers(project)
    put(RETRIEVAL, other, project)
    (project.folder / TABLE).unlink()
    assert remade(project) == ({RETRIEVAL}, right)


def test_every_file_of_another_seed(continue_project, other):
    """Records that came with other files tell of other settings."""
    project = continue_project(ANOTHER_SEED)
    assert remade(project)[1] == numbers(other)
    project.configure(ANOTHER_PRECISION)
    assert "retrieve" in project.planned(TABLE)


def test_a_model_of_a_later_round_in_place_of_the_first(finished_rounds, tmp_path):
    project = finished_rounds.copy(tmp_path / "project", SMALL_ROUNDS)
    models = project.folder / "results/scenes/models/hm_lstm/seed0"
    files = [models / f"round{number}/model.safetensors" for number in (0, 1)]
    right, status = [path.read_bytes() for path in files], files[0].stat()
    shutil.copyfile(files[1], files[0])
    os.utime(files[0], ns=(status.st_atime_ns, status.st_mtime_ns))
    files[1].unlink()
    project.run("results/scenes/models/hm_lstm/seed0/round1/model.safetensors")
    assert [path.read_bytes() for path in files] == right


def test_a_file_that_an_orphan_replaces_is_found_and_a_loop_of_the_command_ends_well(continue_project):
    """A killed run leaves a job behind, which finishes with the settings of before."""
    right = continue_project(ANOTHER_MARGIN)
    right.run(TABLE)
    project = continue_project(ANOTHER_MARGIN)
    model = project.folder / MODEL
    before = model.read_bytes()
    run = subprocess.Popen([*project.command(), "--", TABLE], cwd=project.folder, stdout=subprocess.PIPE, text=True)
    while not model.exists() or model.read_bytes() == before:
        assert run.poll() is None
        time.sleep(0.02)
    orphan = model.with_name("orphan")
    orphan.write_bytes(before)
    orphan.rename(model)
    run.communicate()
    tries = 0
    while project.run(TABLE, check=False).returncode:
        tries += 1
        assert tries < 4
    assert numbers(project) == numbers(right)
    assert model.read_bytes() == (right.folder / MODEL).read_bytes()
