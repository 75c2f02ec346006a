"""The process of a job: what has happened when it ends, and its exit status."""

import subprocess
import sys

import pytest

from tests.projects import ROOT

JOB = f"""
import atexit, runpy, sys
from types import SimpleNamespace
from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params

rule = SimpleNamespace(
    rule="write",
    input=InputFiles(),
    output=OutputFiles(toclone=["made.txt"]),
    params=Params(fromdict={{"call": "job_of_test:write", "given": {{"fails": sys.argv[1]}}}}),
    log=Log(toclone=["job.log"]),
)
sys.path.append(".")
atexit.register(print, "freed")  # what was registered first runs last, before objects are freed
runpy.run_path({str(ROOT / "workflow/scripts/job.py")!r}, {{"snakemake": rule}}, "__main__")
"""
WRITE = """
import atexit, sys, threading, time


def write(output, fails):
    print("said", end="")
    atexit.register(lambda: open("closed.txt", "w").close())
    threading.Thread(target=write_later, args=[output]).start()
    if fails == "error":
        raise ValueError("wrong")
    if fails == "exit":
        sys.exit(143)


def write_later(output):
    time.sleep(0.2)
    open(output, "w").close()
"""


@pytest.mark.parametrize(("fails", "status"), [("", 0), ("error", 1), ("exit", 143)])
def test_a_job_ends_after_its_threads_and_what_it_registered_with_its_status(tmp_path, fails, status):
    (tmp_path / "job_of_test.py").write_text(WRITE)
    done = subprocess.run([sys.executable, "-c", JOB, fails], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert (tmp_path / "made.txt").exists()
    assert (tmp_path / "closed.txt").exists()
    assert done.stdout == ("saidfreed\n" if status else "said")  # a job that is done frees nothing
