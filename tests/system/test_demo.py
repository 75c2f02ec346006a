"""The output of `make demo` beside Snakemake's: the disk that it takes, and the time left."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISK = runpy.run_path(str(ROOT / "envs/disk.py"))
LOGGERS = ROOT / "workflow/loggers"
TIME_LEFT = runpy.run_path(str(LOGGERS / "snakemake_logger_plugin_timeleft/__init__.py"))

SNAKEFILE = """
rule all:
    input: "a", "b"

rule train:
    output: "a"
    message: "training it"
    shell: "touch {output}"

rule fail:
    output: "b"
    log: "fail.log"
    shell: "echo no such thing > {log}; exit 1"
"""


def test_the_disk_that_is_yet_to_be_taken_is_said(tmp_path):
    first = DISK["disk_message"](tmp_path, 68.04)
    assert first == (
        "The demo takes about 6.1 GB of disk more: 5.8 GB for .venv and 0.1 GB for resources and 0.2 GB for results. "
        "68.0 GB are free."
    )
    (tmp_path / ".venv").mkdir()
    assert "about 0.3 GB of disk more: 0.1 GB for resources" in DISK["disk_message"](tmp_path, 68.04)


def test_time_left_is_that_of_the_work_left_at_the_speed_so_far():
    work = TIME_LEFT["RunWork"]({"train": 30.0, "table": 10.0}, {"train": 2, "table": 1, "unknown": 1})
    assert work.remaining_seconds(elapsed=60) is None
    work.finish("train")
    # 30 of 90 seconds of work took a minute.
    assert work.remaining_seconds(elapsed=60) == pytest.approx(120)
    work.finish("unknown")
    assert work.remaining_seconds(elapsed=100) == pytest.approx(80)
    assert work.remaining_seconds(elapsed=10) is None


@pytest.mark.parametrize(
    ("done", "left", "said"),
    [
        (3, None, "3 of 9 jobs done."),
        (3, 61, "3 of 9 jobs done; about 2 min left (an estimate)."),
        (9, 61, "9 of 9 jobs done."),
    ],
)
def test_an_estimate_is_said_to_be_one(done, left, said):
    assert TIME_LEFT["line"](done, 9, left) == said


def test_costs_of_the_demo_are_recorded():
    costs = TIME_LEFT["read_costs"]("scenes")
    assert costs["train"] > costs["table"] > 0


@pytest.mark.slow
def test_a_run_says_what_runs_what_failed_and_how_far_it_is(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--keep-going", "--logger", "timeleft"]
    done = subprocess.run(
        [*command, "--show-failed-logs", "--quiet", "host", "reason"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(LOGGERS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "training it" in done.stderr
    assert "1 of 3 jobs done." in done.stderr
    assert "no such thing" in done.stderr
    assert "Finished jobid" not in done.stderr
