"""Workflows in folders of their own, and real runs of them."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

ENGINE = Path(__file__).parents[1]
WITHOUT = shutil.ignore_patterns("tests", "results", "logs", ".snakemake", "__pycache__")


def copy_engine(folder: Path) -> Path:
    """Copies this package, with its example, into a folder; returns the folder of the example."""
    shutil.copytree(ENGINE, folder / "snakeproof", ignore=WITHOUT)
    return folder / "snakeproof/example"


@dataclass
class Workflow:
    """A workflow in a folder, without the project around these tests."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def edit(self, name: str, before: str, after: str) -> None:
        """Replaces text in a file that has it."""
        text = self.path(name).read_text()
        assert before in text
        self.path(name).write_text(text.replace(before, after))

    def start(self, *arguments: str, hears: Sequence[int] = (), **variables: str) -> subprocess.Popen:
        """Starts Snakemake in a group of processes; it `hears` these signals also where the tests ignore them."""

        def hear() -> None:
            for number in hears:
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
            cwd=self.folder,
            env={**environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=hear,
        )

    def run(self, *arguments: str, **variables: str) -> str:
        """Runs Snakemake to a good end; returns what it prints."""
        process = self.start(*arguments, **variables)
        text, _ = process.communicate()
        assert process.returncode == 0, text
        return text

    def refused(self, *arguments: str, **variables: str) -> str:
        """What Snakemake prints before it ends with an error."""
        process = self.start(*arguments, **variables)
        text, _ = process.communicate()
        assert process.returncode != 0, text
        return text

    def planned(self, *arguments: str) -> dict[str, int]:
        """Rule -> number of jobs that a run would start."""
        return job_counts(self.run("--dry-run", *arguments))

    def kill_when(self, is_time: Callable[[], bool], *arguments: str, **variables: str) -> None:
        """Starts a run, and kills it with its jobs at a moment, as a power cut would."""
        run = self.start(*arguments, **variables)
        wait(is_time, run)
        kill(run)


_WITH_JOBS = """
import sys
sys.path.insert(0, {root!r})
from snakeproof.runs import Run

run = Run(workflow, {{"results": "results"}}, lambda path: True, logger)

onstart:
    run.begin()
onsuccess:
    run.succeed()
onerror:
    run.fail()

rule all:
    input: expand("results/{{number}}.txt", number=range(2))

rule wait:
    output: "results/{{number}}.txt"
    script: "wait.py"

run.doubt()
{last}
"""
_WAIT = """
import signal, sys, time
def end(*_):
    time.sleep(0.5)
    open("saved" + snakemake.wildcards.number, "w").close()
    sys.exit(1)
signal.signal(signal.SIGTERM, end)
open("began" + snakemake.wildcards.number, "w").close()
time.sleep(60)
"""


def waiting_workflow(folder: Path, last: str = "") -> Workflow:
    """A workflow with two jobs that wait for a signal; the Snakefile ends in the line `last`."""
    (folder / "Snakefile").write_text(_WITH_JOBS.format(root=str(ENGINE.parent), last=last))
    (folder / "wait.py").write_text(_WAIT)
    return Workflow(folder)


def start_waiting(workflow: Workflow) -> subprocess.Popen:
    """Starts such a workflow until both jobs wait; the run hears Ctrl-C."""
    run = workflow.start(hears=[signal.SIGINT])
    wait(lambda: all(workflow.path(f"began{number}").exists() for number in range(2)), run)
    return run


def wait(is_time: Callable[[], bool], run: subprocess.Popen) -> None:
    """Waits for a moment of a run, which must go on until then."""
    while not is_time():
        assert run.poll() is None, run.communicate()[0]
        time.sleep(0.02)


def kill(run: subprocess.Popen) -> None:
    """Kills a run with its jobs."""
    processes = [psutil.Process(run.pid), *psutil.Process(run.pid).children(recursive=True)]
    for process in processes:
        process.kill()
    psutil.wait_procs(processes)
    run.communicate()


def job_counts(text: str) -> dict[str, int]:
    """Rule -> number of jobs, from what Snakemake prints before a run."""
    table = text.partition("Job stats:")[2].partition("\n\n")[0]
    rows = [line.split() for line in table.splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit() and row[0] != "total"}


def flip_bit(path: Path, place: int) -> None:
    """Flips a bit of a file, and leaves its time as it is, as a disk would."""
    status = path.stat()
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
