"""Every job of the tables is planned with its inputs and settings as before."""

import difflib
import subprocess
import sys

from tests.workflow import golden_plan

MOST = 300_000
"""Bytes."""


def test_the_plan_is_the_golden_one(make_project, tmp_path):
    found = tmp_path / "plan.txt"
    command = [sys.executable, "-P", golden_plan.__file__, str(found)]
    done = subprocess.run(command, cwd=make_project({}).folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    golden, now = golden_plan.PATH.read_text(encoding="utf-8").splitlines(), found.read_text("utf-8").splitlines()
    changes = list(difflib.unified_diff(golden, now, "golden", "now", lineterm="", n=0))
    assert changes == [], "`make golden-plan` writes it anew: look at the difference, and say in CHANGELOG what reruns"


def test_it_has_each_job_once_and_stays_readable():
    lines = golden_plan.PATH.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    assert golden_plan.PATH.stat().st_size < MOST
