"""What files say of themselves decides, and not Snakemake's records; `densevse adopt` accepts files of other code."""

import copy
import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from densevse.runtime.exact import why_not_exact
from snakeproof.records import record_file
from tests.artifacts.test_adoption import OLDER
from tests.projects import SMALL, Project, copy_code

MODEL = "results/scenes/models/vsepp/seed0/round0/model.safetensors"
HISTORY = "results/scenes/models/vsepp/seed0/round0/history.parquet"
RETRIEVAL = "results/scenes/retrieval/full/vsepp/seed0/round0.parquet"
TABLE = "results/tables/scenes.md"
ANOTHER_MARGIN = copy.deepcopy(SMALL)
ANOTHER_MARGIN["methods"]["vse"]["parameters"] = {"margin": 0.3}
TAKEN_BACK = "Nothing to compute: the inputs were written again, with the contents that they had."

pytestmark = pytest.mark.long


def record(project: Project, path: str, kind: str = "metadata") -> Path:
    """The file of Snakemake's record of a path, or of its mark as incomplete."""
    return record_file(project.folder / ".snakemake" / kind, path)


def contents(project: Project) -> dict[str, bytes]:
    files = (project.folder / "results/scenes").rglob("*.*")
    return {str(path.relative_to(project.folder)): path.read_bytes() for path in files if path.is_file()}


def taken_back(project: Project) -> set[str]:
    """The names of the rules whose jobs took their outputs back."""
    logs = (project.folder / "results/logs").rglob("*.log")
    return {path.parent.name for path in logs if TAKEN_BACK in path.read_text()}


def test_what_has_no_record_is_taken_back_if_it_is_of_today(continue_project):
    """The run of one was killed at the end of its training, and the other's record was cut off."""
    project = continue_project(SMALL)
    before = contents(project)
    record(project, MODEL).unlink()
    for path in (MODEL, HISTORY):
        record(project, path, "incomplete").write_text('{"external_jobid": null}')
    record(project, RETRIEVAL).write_bytes(b"\xff[1]")
    status, text = project.plan(TABLE)
    assert status == 0
    assert f"{HISTORY} and 2 more: no record tells how these were made" in text
    project.run(TABLE)
    assert taken_back(project) == {"train", "retrieve"}
    assert contents(project) == before
    assert project.planned(TABLE) == {}


def test_what_has_no_record_is_made_again_if_it_is_not(continue_project):
    project = continue_project(ANOTHER_MARGIN)
    for path in (project.folder / "results/.records-results").rglob("*"):
        path.unlink()
    before = contents(project)
    project.run(TABLE)
    after = contents(project)
    assert {path for path in before if after[path] != before[path]} == {
        path.replace("vsepp", name) for path in (MODEL, HISTORY, RETRIEVAL) for name in ("vse", "vsepp")
    }
    assert "train" not in taken_back(project)


def test_a_snapshot_by_hard_links_does_not_give_an_old_table_under_new_settings(continue_project):
    """Snakemake writes records through the inode that a snapshot shares."""
    project = continue_project(SMALL)
    before = (project.folder / "results/tables/scenes.csv").read_text()
    shutil.copytree(project.folder / "results", project.folder / "snapshot", copy_function=os.link)
    project.configure(ANOTHER_MARGIN)
    project.run(TABLE)
    after = (project.folder / "results/tables/scenes.csv").read_text()
    assert after != before
    shutil.rmtree(project.folder / "results")
    (project.folder / "snapshot").rename(project.folder / "results")
    project.run(TABLE)
    assert (project.folder / "results/tables/scenes.csv").read_text() == after


def test_a_copy_without_records_and_times_trains_nothing(continue_project):
    project = continue_project(SMALL)
    before = contents(project)
    shutil.rmtree(project.folder / ".snakemake")
    shutil.rmtree(project.folder / "results/.records-results")
    for number, path in enumerate(sorted(before, reverse=True)):
        os.utime(project.folder / path, (1.6e9 + number, 1.6e9 + number))
    status, text = project.adopt()
    assert (status, text.count("must be made again")) == (0, 0)
    assert project.planned(TABLE) == {"table": 1}
    project.run(TABLE)
    assert contents(project) == before


def test_files_of_another_code_are_adopted_and_named_by_the_foot_of_the_table(continue_project):
    project = continue_project(SMALL)
    loop = project.folder / "densevse/training/loop.py"
    loop.write_text(loop.read_text() + "\nEDITED = True\n")
    assert {"train", "retrieve"} <= project.planned(TABLE).keys()
    status, text = project.adopt(TABLE)
    assert status == 0, text
    assert f"adopted {MODEL}; not compared: the code" in text
    assert project.planned(TABLE) == {"table": 1}
    project.run(TABLE)
    foot = (project.folder / TABLE).read_text()
    assert (
        "were adopted (densevse adopt): vse, vsepp. Their settings and inputs agree with today's; not compared" in foot
    )
    assert project.planned(TABLE) == {}
    record(project, MODEL).unlink()  # the mark is in the file, and is taken back with it
    project.run(TABLE)
    assert "adopted" in (project.folder / TABLE).read_text()
    for path in (MODEL, HISTORY, RETRIEVAL):
        for variant in ("vse", "vsepp"):
            (project.folder / path.replace("vsepp", variant)).unlink()
    (project.folder / TABLE).unlink()
    project.run(TABLE)
    assert "adopted" not in (project.folder / TABLE).read_text()


def test_what_disagrees_is_not_adopted_and_nothing_is_by_touch(continue_project):
    project = continue_project(ANOTHER_MARGIN)
    done = project.run(TABLE, "--touch", check=False)
    assert done.returncode
    assert "--touch: it would call files current without comparing them. Call densevse adopt" in done.stdout
    status, text = project.adopt(TABLE)
    assert status == 1
    assert f"must be made again: {MODEL}\n  {MODEL}: job.parameters.margin: the plan says 0.3, found 0.2." in text
    assert "adopted" not in text
    assert project.planned(TABLE)["train"] == 2


@pytest.fixture
def of_earlier_version(tmp_path):
    """A function that returns the project in the archive, which 5febe9e3 made, with a choice of exact jobs."""

    def extract(exact):
        project = Project(copy_code(tmp_path / "project"))
        with tarfile.open(OLDER) as archive:
            archive.extractall(project.folder, filter="data")
        values = json.loads((project.folder / "test.yaml").read_text())
        values["datasets"]["scenes"]["exact"] = exact
        project.configure(values)
        return project

    return extract


@pytest.mark.skipif(why_not_exact("auto") is not None, reason="no exact jobs on this machine")
def test_no_file_of_an_earlier_version_is_adopted_as_an_exact_one(of_earlier_version):
    project = of_earlier_version("auto")
    before = contents(project)
    status, text = project.adopt()
    assert status == 1
    assert "adopted" not in text
    refused = [path for path in before if path.endswith((".parquet", ".safetensors"))]
    assert text.count("revisions.exact: values have changed since") == len(refused)
    assert contents(project) == before


def test_everything_of_an_earlier_version_is_adopted(of_earlier_version):
    project = of_earlier_version(exact=False)
    project.run("resources/scenes/scenes.zip", "resources/scenes_net/scenes_net.safetensors")  # not in the archive
    made = {path for path in contents(project) if path.endswith((".parquet", ".safetensors"))}
    status, text = project.plan(TABLE)
    assert "of an earlier version. A run that needs them makes them again. To keep them, call" in text
    status, text = project.adopt()
    assert status == 1, text
    tokens = "results/scenes/tokens.parquet"  # words before a full stop may be others since
    assert [line for line in text.splitlines() if line.startswith("must be")] == [f"must be made again: {tokens}"]
    read = {f"results/scenes/{table}.parquet": ", reading.sides" for table in ("images", "captions")}
    assert {line for line in text.splitlines() if line.startswith("adopted")} == {
        f"adopted {path}; not compared: the code{read.get(path, '')}" for path in made - {tokens}
    }
    before = contents(project)
    (project.folder / TABLE).unlink()
    project.run(TABLE)
    assert "were adopted (densevse adopt): vse, defrag" in (project.folder / TABLE).read_text()
    models = [path for path in made if "models" in path or "retrieval" in path]
    assert {path: contents(project)[path] for path in models} == {path: before[path] for path in models}
