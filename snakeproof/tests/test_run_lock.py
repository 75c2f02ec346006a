"""One run at a time makes files in a folder of results, from whichever checkout, and a killed run holds nothing."""

import atexit
import errno
import fcntl
import json
import multiprocessing
import os
import platform
import signal
from pathlib import Path

import pytest

from snakeproof import run_lock
from snakeproof.errors import InputError
from snakeproof.run_lock import RunLock, describe_run, lock_folders, name_holder
from snakeproof.tests.workflows import ENGINE, Workflow, kill, start_waiting, waiting_workflow

FORKS = multiprocessing.get_context("forkserver")


@pytest.fixture
def checkouts(tmp_path):
    """Two working folders whose `results` are links to one folder."""
    (tmp_path / "shared").mkdir()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results").symlink_to(tmp_path / "shared")
    return tmp_path


def run(folder, said, end):
    """A run in another process, from its plan to its end; it sends the text of its refusal, or None when it runs."""
    os.chdir(folder)
    lock = RunLock("results", "results")
    said.send("planned")
    try:
        end.recv()
        lock.take()
        said.send(None)
        end.recv()
    except InputError as error:
        said.send(str(error))
    atexit._run_exitfuncs()  # processes of multiprocessing leave them out


class Run:
    """A run in a working folder, as far as a test lets it go on."""

    def __init__(self, folder):
        self._said, said = FORKS.Pipe(duplex=False)
        end, self._end = FORKS.Pipe(duplex=False)
        self.process = FORKS.Process(target=run, args=(folder, said, end))
        self.process.start()
        assert self._said.recv() == "planned"

    def begin(self):
        """Why it is refused; None if it runs."""
        self._end.send("go on")
        return self._said.recv()

    def end(self):
        self._end.send("go on")
        self.process.join()

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()


def test_a_second_run_is_refused_by_name_until_the_first_is_killed(checkouts):
    first = Run(checkouts / "one")
    assert first.begin() is None
    refusal = Run(checkouts / "two").begin()
    assert refusal.startswith(f"results: process {first.process.pid} on {platform.node()}, a run in {checkouts}/one ")
    first.kill()
    second = Run(checkouts / "two")
    assert second.begin() is None
    second.end()


@pytest.mark.parametrize("end", [Run.end, Run.kill])
def test_a_run_that_was_planned_beside_another_one_is_refused_when_that_has_ended(checkouts, end):
    """Its plan calls files current that the other run has replaced."""
    first = Run(checkouts / "one")
    assert first.begin() is None
    second = Run(checkouts / "two")
    end(first)
    assert "another run has ended there since" in second.begin()
    again = Run(checkouts / "two")
    assert again.begin() is None
    again.end()


def test_a_run_is_refused_if_another_one_began_and_ended_after_its_plan(checkouts):
    second = Run(checkouts / "two")
    first = Run(checkouts / "one")
    assert first.begin() is None
    first.end()
    assert "another run has ended there since" in second.begin()


def test_only_folders_where_a_run_makes_files_are_locked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    locks = [RunLock(folder, folder) for folder in ("results", "resources")]
    assert lock_folders(locks, ["results/scenes/images.parquet", "exported/model.zip"]) == ["results"]
    assert json.loads(Path("results/.run.lock").read_text())["folder"] == str(tmp_path)
    assert not Path("resources").exists()


_DOWNLOADS = """
import sys
sys.path.insert(0, {root!r})
from snakeproof.runs import Run

run = Run(workflow, {{"results": "results", "resources": "resources"}}, lambda path: True, logger)

onstart:
    run.begin()
onsuccess:
    run.succeed()

rule make:
    output: "{{folder}}/made.txt"
    shell: "touch {{output}}"
"""


def test_what_a_run_has_put_aside_stays_beside_a_run_that_only_downloads(checkouts):
    other = Run(checkouts / "one")
    assert other.begin() is None
    put_aside = checkouts / "shared/.aside/features.parquet"
    put_aside.parent.mkdir()
    put_aside.touch()
    (checkouts / "two/Snakefile").write_text(_DOWNLOADS.format(root=str(ENGINE.parent)))
    workflow = Workflow(checkouts / "two")
    workflow.run("resources/made.txt")
    assert put_aside.exists()
    other.kill()
    workflow.run("results/made.txt")
    assert not put_aside.parent.exists()


def test_a_folder_without_locks_is_named_and_used(tmp_path, monkeypatch):
    def refuse(*given):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    warnings = []
    RunLock(str(tmp_path), "results", warnings.append).take()
    assert warnings == [
        f"{tmp_path}/.run.lock: cannot be locked (No locks available). Start no other run that writes there."
    ]


def test_a_link_in_the_place_of_the_lock_is_refused(tmp_path):
    (tmp_path / "victim").write_text("kept")
    (tmp_path / ".run.lock").symlink_to("victim")
    with pytest.raises(InputError, match=r"\.run\.lock: expected a file, found a link"):
        RunLock(str(tmp_path), "results").take()
    assert (tmp_path / "victim").read_text() == "kept"


def test_a_damaged_lock_names_nobody():
    assert run_lock.name_run("{") == run_lock.name_run("[1]") == "another run"


def test_a_locked_folder_names_the_run_that_holds_it_and_unlocks_that_of_a_killed_one(tmp_path):
    workflow = waiting_workflow(tmp_path)
    run = start_waiting(workflow)
    try:
        said = workflow.refused()
        assert f"process {run.pid} on {platform.node()}, a run in {tmp_path} since 20" in said
        assert "makes files here now. Wait until it has ended, or end it." in said
        assert "unlock" not in said.lower()
    finally:
        kill(run)
    said = workflow.refused("--keep-going")
    assert f"process {run.pid} on {platform.node()}, a run in {tmp_path} since 20" in said
    assert said.rstrip().endswith("Unlock it:\n  snakemake --unlock --cores 2 --keep-going")
    assert workflow.refused(SNAKEPROOF_UNLOCK="mine --unlock").rstrip().endswith("Unlock it:\n  mine --unlock")
    workflow.run("--unlock", "--keep-going")
    assert not list(tmp_path.glob(".snakemake/locks/*"))


def test_a_run_of_another_machine_is_never_called_dead(tmp_path, monkeypatch):
    lock = RunLock(str(tmp_path), "results")
    assert "just beginning here, or was killed as it began" in name_holder([lock])
    (tmp_path / ".run.lock").write_text(describe_run())
    assert "was killed" in name_holder([lock])
    monkeypatch.setattr(platform, "node", lambda: "another")
    assert "whether it goes on cannot be seen from another. Wait until" in name_holder([lock])
    (tmp_path / ".run.lock").write_text(json.dumps({"ended": "8d1b"}))
    assert "just beginning here, or was killed as it began" in name_holder([lock])


def test_without_locks_nobody_is_called_dead(tmp_path, monkeypatch):
    (tmp_path / ".run.lock").write_text(describe_run())

    def refuse(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(run_lock.fcntl, "flock", refuse)
    assert "whether it goes on cannot be seen" in name_holder([RunLock(str(tmp_path), "results")])
