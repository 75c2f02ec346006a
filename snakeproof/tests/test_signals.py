"""A run that hears SIGTERM, SIGHUP or Ctrl-C ends after its jobs, whatever Snakemake is doing then."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from snakeproof.tests.workflows import start_waiting, waiting_workflow

ROOT = Path(__file__).parents[2]

# When the scheduler says that a job has ended, the main thread holds its lock, and this thread also hears signals.
SNAKEFILE = """
import logging, os, sys
sys.path.insert(0, {root!r})
from snakemake.logging import logger
from snakeproof.signals import end_by_signals


class AtJobsEnd(logging.Filter):
    def filter(self, record):
        if record.getMessage().endswith("(Rule: first)"):
            os.kill(os.getpid(), {number})
        return True


onstart:
    end_by_signals()
    logger.addFilter(AtJobsEnd())

rule last:
    input: "9"
    output: "10"
    shell: "touch {{output}}"

rule first:
    output: "0"
    shell: "touch {{output}}"

rule after:
    input: lambda wildcards: str(int(wildcards.number) - 1)
    output: "{{number,[1-9]}}"
    shell: "touch {{output}}"
"""


def hear_hang_ups():
    """The process hears SIGHUP also where the tests ignore it, with nohup or in the background."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_whose_scheduler_is_at_work(tmp_path, number):
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(root=str(ROOT), number=int(number)))
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, preexec_fn=hear_hang_ups)
    assert done.returncode == 1, done.stderr
    assert "Will exit after finishing currently running jobs" in done.stderr
    assert (tmp_path / "0").exists()
    assert not (tmp_path / "10").exists()


@pytest.mark.parametrize("moment", ["jobs", "plan"])
def test_ctrl_c_ends_the_jobs_and_says_one_line(tmp_path, moment):
    """A terminal sends it to all processes of the group."""
    last = "open('began0', 'w'); open('began1', 'w'); import time; time.sleep(60)" if moment == "plan" else ""
    run = start_waiting(waiting_workflow(tmp_path, last))
    os.killpg(run.pid, signal.SIGINT)
    printed, _ = run.communicate(timeout=30)
    assert run.returncode in (130, -signal.SIGINT), printed
    assert printed.splitlines()[-1] == "Interrupted. The same command goes on from here."
    assert not any(word in printed for word in ("Traceback", "Error", "Terminated", "did not complete")), printed
    if moment == "jobs":
        assert {"saved0", "saved1"} <= {file.name for file in tmp_path.iterdir()}, "jobs have no time to save"
        assert not list(tmp_path.glob(".snakemake/locks/*")), "a lock stays"
