"""Files of whose making no record can be read are refused; `densevse adopt` compares them before it accepts them."""

import copy
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from densevse.dag.records import record_file
from tests.projects import SMALL, Project

MODEL = "results/scenes/models/vsepp/seed0/round0/model.safetensors"
HISTORY = "results/scenes/models/vsepp/seed0/round0/history.parquet"
RETRIEVAL = "results/scenes/retrieval/full/vsepp/seed0/round0.parquet"
TABLE = "results/tables/scenes.md"
ANOTHER_MARGIN = copy.deepcopy(SMALL)
ANOTHER_MARGIN["methods"]["vse"]["parameters"] = {"margin": 0.3}

pytestmark = pytest.mark.long


def record(project: Project, path: str, kind: str = "metadata") -> Path:
    """The file of Snakemake's record of a path, or of its mark as incomplete."""
    return record_file(project.folder / ".snakemake" / kind, path)


def times(project: Project) -> dict[str, int]:
    files = (project.folder / "results/scenes").rglob("*.*")
    return {str(path.relative_to(project.folder)): path.stat().st_mtime_ns for path in files}


def test_what_agrees_is_adopted_and_named_by_the_foot_of_the_table(continue_project):
    """The run of one was killed at the end of its training, and the other's record was cut off."""
    project = continue_project(SMALL)
    before = times(project)
    record(project, MODEL).unlink()
    for path in (MODEL, HISTORY):
        record(project, path, "incomplete").write_text('{"external_jobid": null}')
    record(project, RETRIEVAL).write_bytes(b"\xff[1]")
    done = project.run(TABLE, "--rerun-incomplete", check=False)
    assert done.returncode
    assert f"  {MODEL}\n  {RETRIEVAL}\n" in done.stdout
    assert "Call densevse adopt" in done.stdout
    status, text = project.adopt()
    assert (status, times(project)) == (0, before), text
    assert f"adopted {MODEL}; not compared: the code" in text
    assert project.planned(TABLE) == {"table": 1}
    project.run(TABLE)
    foot = (project.folder / TABLE).read_text()
    assert "were adopted (densevse adopt): vsepp. Their settings and inputs agree with today's; not compared: " in foot
    assert project.planned(TABLE) == {}
    for path in (MODEL, RETRIEVAL, TABLE):
        (project.folder / path).unlink()
    project.run(TABLE)
    assert project.planned(TABLE) == {"table": 1}  # was planned when the files were adopted ones
    project.run(TABLE)
    assert "adopted" not in (project.folder / TABLE).read_text()


def test_what_disagrees_is_not_adopted_and_nothing_is_by_touch(continue_project):
    project = continue_project(ANOTHER_MARGIN)
    done = project.run(TABLE, "--touch", check=False)
    assert done.returncode
    assert "--touch: it would call files current without comparing them. Call densevse adopt" in done.stdout
    record(project, MODEL).unlink()
    status, text = project.adopt()
    assert status == 1
    assert f"must be made again: {MODEL}\n  {MODEL}: job.parameters.margin: the plan says 0.3, found 0.2." in text
    assert f"Delete these, then run again:\n  rm {MODEL}\n" in text
    assert "adopted" not in text
    assert f"  {MODEL}\n" in project.plan(TABLE)[1]
    for path in (MODEL, RETRIEVAL):
        (project.folder / path).unlink()
    assert project.planned(TABLE)["train"] == 2


def test_a_copy_without_records_and_times_trains_nothing(continue_project):
    project = continue_project(SMALL)
    shutil.rmtree(project.folder / ".snakemake")
    shutil.rmtree(project.folder / "results/.records-results")
    for number, path in enumerate(sorted(times(project), reverse=True)):
        os.utime(project.folder / path, (1.6e9 + number, 1.6e9 + number))
    status, text = project.plan(TABLE)
    assert status
    assert "Call densevse adopt" in text
    assert "copy the hidden folder .records-results too" in text
    status, text = project.adopt()
    assert status == 1
    (line,) = [line for line in text.splitlines() if line.startswith("  rm ")]
    assert {Path(path).parent.name for path in line.split()[1:]} == {"tables"}
    subprocess.run(line, shell=True, cwd=project.folder, check=True)
    assert project.planned(TABLE) == {"table": 1}
