"""Projects that are copied, read-only, or run from another folder."""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from densevse.config.environment import check_place
from snakeproof.errors import InputError
from tests.projects import ANOTHER_RATE, ROOT, SMALL, Project, job_counts, without_power_over_permissions

TABLE = "results/tables/scenes.md"
TRAINING = {"train": 2, "retrieve": 2, "table": 1}


@pytest.fixture
def copied(finished, tmp_path):
    """A copy of a finished project."""
    return finished.copy(tmp_path / "elsewhere", SMALL)


@pytest.mark.long
def test_results_alone_say_what_they_were_made_with(copied):
    """Without .snakemake, a changed setting and edited code are seen as with it."""
    assert without_snakemake_s_folder(copied) == {}
    copied.configure(ANOTHER_RATE)
    assert without_snakemake_s_folder(copied) == TRAINING
    copied.configure(SMALL)
    with open(copied.folder / "densevse/methods/parts.py", "a") as file:
        file.write("EDITED = True\n")
    assert without_snakemake_s_folder(copied) == TRAINING


def without_snakemake_s_folder(project: Project) -> dict[str, int]:
    shutil.rmtree(project.folder / ".snakemake")
    return project.planned(TABLE)


def test_results_without_records_are_looked_at_again(copied):
    """Snakemake alone would take them for current, whatever has changed."""
    shutil.rmtree(copied.folder / ".snakemake")
    shutil.rmtree(copied.folder / "results/.records-results")
    copied.configure(ANOTHER_RATE)
    status, text = copied.plan(TABLE)
    assert status == 0
    assert "no record tells how these were made. Their jobs are planned" in text
    assert TRAINING.items() <= job_counts(text).items()


@pytest.mark.long
def test_one_of_two_checkouts_makes_files_in_linked_results(finished, tmp_path):
    """Its jobs are processes of their own, which are let in."""
    one, two = (finished.copy(tmp_path / name, values) for name, values in (("one", ANOTHER_RATE), ("two", SMALL)))
    shutil.rmtree(two.folder / "results")
    (two.folder / "results").symlink_to(one.folder / "results")
    run = subprocess.Popen([*one.command(), "--", TABLE], cwd=one.folder, stderr=subprocess.DEVNULL)
    while "process" not in (one.folder / "results/.run.lock").read_text():
        assert run.poll() is None
        time.sleep(0.05)
    beside = two.run("--forceall", TABLE, check=False)
    assert beside.returncode != 0
    assert f"results: process {run.pid} on " in beside.stdout
    assert f"a run in {one.folder} since" in beside.stdout
    assert two.run("--dry-run", TABLE).returncode == 0
    assert run.wait() == 0
    two.run(TABLE)


@pytest.mark.long
def test_without_the_profile_a_changed_setting_is_seen_too(copied):
    copied.configure(ANOTHER_RATE)
    assert job_counts(copied.run("--workflow-profile=none", "--dry-run", TABLE).stdout) == TRAINING


@pytest.mark.long
@pytest.mark.skipif(not (os.geteuid() or shutil.which("setpriv")), reason="root may write everywhere; no setpriv here")
def test_read_only_results_can_be_looked_at_and_say_what_to_do(copied):
    subprocess.run(["chmod", "-R", "a-w", copied.folder / "results"], check=True)
    try:
        assert "Nothing to be done" in copied.run(TABLE, through=without_power_over_permissions).stdout
        copied.configure(ANOTHER_RATE)
        done = copied.run(TABLE, check=False, through=without_power_over_permissions)
    finally:
        subprocess.run(["chmod", "-R", "u+w", copied.folder / "results"], check=True)
    assert done.returncode != 0
    assert "results is not writable" in done.stdout
    assert "chmod -R u+w" in done.stdout


def test_it_runs_in_another_folder_than_its_own(tmp_path):
    """With the configuration that stands beside the Snakefile."""
    elsewhere = Project(tmp_path)
    elsewhere.configure(SMALL)
    images = "results/scenes/images.parquet"
    elsewhere.run(f"--snakefile={ROOT}/Snakefile", images)
    assert (tmp_path / images).is_file()
    assert "Nothing to be done" in elsewhere.run(f"--snakefile={ROOT}/Snakefile", images).stdout


def test_it_can_be_started_from_another_folder(finished, tmp_path):
    elsewhere = Project(tmp_path)
    elsewhere.configure(SMALL)
    options = (f"--snakefile={finished.folder}/Snakefile", f"--directory={finished.folder}")
    assert "Nothing to be done" in elsewhere.run(*options, "--dry-run", TABLE).stdout


@pytest.mark.long
def test_the_file_config_yaml_beside_the_snakefile_holds_in_any_folder(copied, tmp_path):
    (copied.folder / "config/config.yaml").write_text("datasets: {scenes: {shards: 3}}")
    command = [sys.executable, "-m", "snakemake", f"--snakefile={copied.folder}/Snakefile", "--cores=1", "--dry-run"]
    target = "results/scenes/models/vse/seed0/round0/model.safetensors"
    done = subprocess.run([*command, "--", target], cwd=tmp_path, capture_output=True, text=True)
    assert job_counts(done.stdout + done.stderr)["extract_features"] == 3


@pytest.mark.parametrize(
    ("root", "python", "message"),
    [
        ("/data/project", "/data/my project/.venv/bin/python", "' ' in it would end each with exit status 127"),
        ("/data/project", "/data/it's/.venv/bin/python", "exit status 127"),
        ("/data/project", "/data/a(1)/.venv/bin/python", "exit status 127"),
        ("/data/a:b", "/usr/bin/python3", "a folder with a colon or braces"),
        ("/data/{a}", "/usr/bin/python3", "a folder with a colon or braces"),
    ],
)
def test_a_project_that_could_start_no_job_is_refused_at_once(root, python, message):
    with pytest.raises(InputError, match=re.escape(message)):
        check_place(root, python)


@pytest.mark.parametrize("root", ["/data/my project, it's", "/data/Bilder für alle (1)"])
def test_a_folder_of_any_other_name_will_do_where_python_lies_elsewhere(root):
    check_place(root, "/home/jürgen/.venv/bin/python3.11")


@pytest.mark.parametrize("name", ["my project", "it's", "a:b"])
def test_no_packages_are_installed_into_such_a_project(name, tmp_path):
    folder = tmp_path / name
    (folder / "envs/locks").mkdir(parents=True)
    for file in ("Makefile", "requirements.txt", "envs/locks/uv.txt", "envs/command.py"):
        shutil.copy(ROOT / file, folder / file)
    done = subprocess.run(
        ["make", "environment", f"PYTHON={sys.executable}"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "no job can be started in a folder with" in done.stderr
    assert not (folder / ".venv").exists()


@pytest.mark.long
def test_a_training_whose_input_is_of_the_future_does_not_begin(copied):
    """It was trained to its end and thrown away. Of a clock that is a little ahead, its model is kept."""
    vocabulary = copied.folder / "results/scenes/vocabulary/words.parquet"
    copied.configure(ANOTHER_RATE)
    for ahead in (3600, 300):
        os.utime(vocabulary, (0, time.time() + ahead))
        done = copied.run(TABLE, check=False)
        assert bool(done.returncode) == (ahead == 3600), done.stdout[-3000:]
        assert ("results/scenes/vocabulary/words.parquet is dated" in done.stdout) == (ahead == 3600)
    assert copied.planned(TABLE) == {}


def test_what_is_dated_in_the_future_is_named(copied):
    path = copied.folder / "results/scenes/images.parquet"
    os.utime(path, (2**32, 2**32))
    status, text = copied.plan(TABLE)
    assert status == 0
    assert "results/scenes/images.parquet is dated 2106-02-07" in text
    assert "find results -newermt now -exec touch -d @$(date +%s) {} +" in text
