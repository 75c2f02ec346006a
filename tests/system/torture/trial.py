"""Interrupts a run of the workflow in every way that we could think of, and runs it again.

A trial starts the run in an empty folder, does its harm at a random moment, lets the run end, starts it again and
compares all files with the bytes of an undisturbed run.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Self

import numpy as np
import psutil
import pyarrow.parquet as pq
import torch

from densevse.artifacts.schemas.training import HISTORY
from snakeproof.schema import check
from snakeproof.statements import read_statement
from tests.projects import Project, hearing

TARGETS = ("results/tables/scenes.md",)
ROOM = 1 << 16
"""Bytes that a full disk still has."""

AFTER_TRAININGS = 4
"""Jobs that a run still has when its last training ends, and that training's own."""


@dataclass(frozen=True)
class Moment:
    """So many seconds after so many jobs of a run have ended; by the clock alone, a busy machine's would be missed.

    With `in_training` the seconds begin when, besides, a training that is under way has a checkpoint.
    """

    jobs: int
    seconds: float
    in_training: bool = False

    @classmethod
    def draw(cls, seed: int, number: int, jobs: int) -> Self:
        """A moment of a run of so many jobs, the same for the same seed and trial; half of them are in a training."""
        random = Random(f"{seed} {number}")
        if random.random() < 0.5:
            return cls(random.randrange(jobs - AFTER_TRAININGS), round(random.uniform(0, 2), 1), in_training=True)
        return cls(random.randrange(jobs), round(random.uniform(0, 8), 1))

    def __str__(self) -> str:
        return f"{self.jobs} jobs, {'a checkpoint ' * self.in_training}and {self.seconds:.1f} s"

    def wait(self, run: subprocess.Popen, project: Project) -> None:
        """Until it has come, or the run is over."""
        while run.poll() is None and not self._has_begun(project):
            time.sleep(0.02)
        pause(run, self.seconds)

    def _has_begun(self, project: Project) -> bool:
        if jobs_ended(project) < self.jobs:
            return False
        return not self.in_training or any(checkpoint_files(project.folder / "results"))


@dataclass(frozen=True)
class Outcome:
    """The action and the outcome of a trial."""

    harm: str
    moment: str
    running: str
    first_exit: int
    runs: int
    interrupted: int
    resumed: int
    same_bytes: bool
    corrupt: tuple[str, ...]

    @property
    def survived(self) -> bool:
        return self.same_bytes and not self.corrupt and self.resumed == self.interrupted

    def row(self) -> str:
        happened = f"exit {self.first_exit}, {self.runs} further run(s)"
        if self.interrupted:
            happened += f", {self.resumed} of {self.interrupted} interrupted trainings resumed"
        verdict = "same bytes" if self.same_bytes else "OTHER BYTES"
        corrupt = ", ".join(self.corrupt) or "none"
        return f"| {self.moment} | {self.harm} | {self.running} | {happened} | {verdict} | {corrupt} |"


HEADER = "| moment | harm | rules running then | what happened | tables | corrupt files |\n|---|---|---|---|---|---|"


def start(project: Project, targets: tuple[str, ...] = TARGETS) -> subprocess.Popen:
    """Starts Snakemake in a separate process group, with its output in run.log."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "test.yaml", "--", *targets]
    with open(log_of(project), "ab") as log:
        return subprocess.Popen(
            command,
            cwd=project.folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=hearing(signal.SIGHUP),
        )


def finish(project: Project, targets: tuple[str, ...] = TARGETS, at_most: int = 3) -> int:
    """Runs until it succeeds; returns the number of runs.

    The lock of a killed run is removed, as a person would.
    """
    log_of(project).touch()
    for run in range(1, at_most + 1):
        unlock = [sys.executable, "-m", "snakemake", "--unlock", "--configfile", "test.yaml", "--", *targets]
        subprocess.run(unlock, cwd=project.folder, capture_output=True)
        if start(project, targets).wait() == 0:
            return run
    log = log_of(project).read_text()
    raise AssertionError(f"the run did not recover in {at_most} runs:\n{log[log.find('Error in') :][:8000]}")


def jobs_of(run: subprocess.Popen) -> list[psutil.Process]:
    """The processes that run a rule's script."""
    try:
        children = psutil.Process(run.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [child for child in children if rule_of(child)]


def rule_of(process: psutil.Process) -> str:
    """The script that a process runs, or nothing."""
    try:
        names = [part for part in process.cmdline() if part.endswith(".py") and "scripts" in part]
    except psutil.Error:
        return ""
    return Path(names[-1]).name.split(".")[-2] if names else ""


def kill_everything(run: subprocess.Popen) -> None:
    """SIGKILL of the whole process tree, as by a node that loses power."""
    for process in [*psutil.Process(run.pid).children(recursive=True), psutil.Process(run.pid)]:
        with suppress(psutil.Error):
            process.kill()


def terminate(run: subprocess.Popen) -> None:
    """SIGTERM to Snakemake and its jobs, as by a cluster's time limit."""
    for process in [*jobs_of(run), psutil.Process(run.pid)]:
        with suppress(psutil.Error):
            process.send_signal(signal.SIGTERM)


def hang_up(run: subprocess.Popen) -> None:
    """SIGHUP to Snakemake alone, as by a terminal that is closed."""
    run.send_signal(signal.SIGHUP)


def kill_a_job(run: subprocess.Popen) -> None:
    """SIGKILL of one job alone, of the next if none runs, as by the kernel when memory runs out."""
    while run.poll() is None and not jobs_of(run):
        time.sleep(0.02)
    for job in jobs_of(run)[-1:]:
        with suppress(psutil.Error):
            job.kill()


def kill_the_parser(run: subprocess.Popen) -> None:
    """SIGKILL of the CoreNLP server alone."""
    for process in psutil.Process(run.pid).children(recursive=True):
        with suppress(psutil.Error):
            if process.name() == "java":
                process.kill()


HARMS: dict[str, Callable[[subprocess.Popen], None]] = {
    "SIGKILL of everything": kill_everything,
    "SIGTERM": terminate,
    "SIGHUP": hang_up,
    "SIGKILL of a job": kill_a_job,
}


def kill_trial(project: Project, harm: str, moment: Moment, reference: dict[str, bytes]) -> Outcome:
    """Does one of `HARMS` at a moment."""
    run = start(project)
    moment.wait(run, project)
    running = running_rules(run)
    if run.poll() is None:
        HARMS[harm](run)
    first_exit = run.wait()
    leave_no_process(run)
    return judge(project, harm, str(moment), running, first_exit, reference)


def parser_trial(project: Project, harm: str, moment: Moment, reference: dict[str, bytes]) -> Outcome:
    """Kills the CoreNLP server the moment's seconds after its process began."""
    run = start(project)
    while run.poll() is None and not java_of(run):
        time.sleep(0.1)
    pause(run, moment.seconds)
    running = running_rules(run)
    if run.poll() is None:
        kill_the_parser(run)
    first_exit = run.wait()
    return judge(project, harm, f"{moment.seconds:.1f} s of the server", running, first_exit, reference)


def disk_trial(project: Project, harm: str, moment: Moment, reference: dict[str, bytes]) -> Outcome:
    """Makes `results/` a file system that is full, or read-only, from a moment on. Needs root."""
    results = project.folder / "results"
    results.mkdir()
    mount("-t", "tmpfs", "-o", "size=2g", "tmpfs", str(results))
    try:
        run = start(project)
        moment.wait(run, project)
        running = running_rules(run)
        DISK_HARMS[harm](results)
        first_exit = run.wait()
        if harm == "read-only results":
            subprocess.run(["umount", str(results)], check=True)
        mount("-o", "remount,size=2g", str(results))
        return judge(project, harm, str(moment), running, first_exit, reference)
    finally:
        subprocess.run(["umount", "--recursive", "--lazy", str(results)], check=True)


def fill(results: Path) -> None:
    """Leaves almost no room, and tries again if a file grew meanwhile."""
    while not mount("-o", f"remount,size={shutil.disk_usage(results).used + ROOM}", str(results), check=False):
        time.sleep(0.1)


def make_read_only(results: Path) -> None:
    """Puts a read-only view over the folder: open files stay open, but no file can be opened any more."""
    mount("--bind", str(results), str(results))
    mount("-o", "remount,bind,ro", str(results))


DISK_HARMS = {"full disk": fill, "read-only results": make_read_only}


def judge(
    project: Project, harm: str, moment: str, running: str, first_exit: int, reference: dict[str, bytes]
) -> Outcome:
    """Looks for corrupt files at once, then runs again and compares."""
    results = project.folder / "results"
    corrupt, saved = corrupt_files(results), checkpoints(results)
    runs = finish(project) if first_exit else 0
    corrupt += corrupt_files(results)
    return Outcome(
        harm=harm,
        moment=moment,
        running=running,
        first_exit=first_exit,
        runs=runs,
        interrupted=len(saved),
        resumed=sum(went_on(folder, history) for folder, history in saved.items()),
        same_bytes=tables(project) == reference,
        corrupt=tuple(sorted(set(corrupt))),
    )


def tables(project: Project) -> dict[str, bytes]:
    """Name -> bytes of every table."""
    return {path.name: path.read_bytes() for path in sorted((project.folder / "results/tables").glob("scenes*"))}


def corrupt_files(results: Path) -> list[str]:
    """The artifacts under final names that cannot be read completely."""
    broken = []
    for path in sorted(results.rglob("*.parquet")):
        if path.name.startswith("."):
            continue
        try:
            read_statement(path)
            pq.read_table(path)
        except Exception as error:
            broken.append(f"{path.relative_to(results)} ({type(error).__name__})")
    return broken


def checkpoints(results: Path) -> dict[Path, list[dict]]:
    """The folder of each training that has a checkpoint, with the history in it."""
    return {
        path.parents[1]: torch.load(path, weights_only=True)["progress"]["history"]
        for path in checkpoint_files(results)
    }


def checkpoint_files(results: Path) -> Iterator[Path]:
    """The checkpoints of trainings that are not over."""
    return results.glob("*/models/*/seed*/round*/.work-*/checkpoint.pt")


def went_on(folder: Path, saved: list[dict]) -> bool:
    """True if a training resumed from its checkpoint: its history equals the checkpoint's, down to the seconds of the
    epochs, and every later epoch states that it was resumed."""
    path = folder / "history.parquet"
    check(path, HISTORY)
    rows = pq.read_table(path).to_pylist()
    seconds = [np.float32(row["seconds"]) for row in saved]
    kept = [row["seconds"] for row in rows[: len(saved)]] == seconds
    return kept and all(row["resumed"] > 0 for row in rows[len(saved) :])


def jobs_ended(project: Project) -> int:
    """The number of jobs that succeeded in the runs of `start`."""
    return log_of(project).read_text().count("Finished jobid")


def log_of(project: Project) -> Path:
    """The log of all runs of `start`."""
    return project.folder / "run.log"


def pause(run: subprocess.Popen, seconds: float) -> None:
    """Waits for this time, or until the run is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and run.poll() is None:
        time.sleep(0.02)


def running_rules(run: subprocess.Popen) -> str:
    return ", ".join(sorted({rule_of(job) for job in jobs_of(run)})) or "none"


def java_of(run: subprocess.Popen) -> bool:
    with suppress(psutil.Error):
        return any(child.name() == "java" for child in psutil.Process(run.pid).children(recursive=True))
    return False


def leave_no_process(run: subprocess.Popen) -> None:
    """Ends every process that outlived the harm (a job whose Snakemake was killed), as the end of a node would."""
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)


def mount(*arguments: str, check: bool = True) -> bool:
    return subprocess.run(["mount", *arguments], check=check, capture_output=not check).returncode == 0
