"""The workflow through a real Slurm on this machine, with the profile that ships."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.projects import SMALL_ROUNDS, job_counts
from tests.system.torture.trial import tables

TABLES = ("results/tables/scenes.md", "results/tables/scenes_rounds.md")
SCRIPT = Path(__file__).parent / "one_machine.sh"
OPTIONS = (
    "--workflow-profile=profiles/slurm",
    "--slurm-no-account",
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=5",
)


@pytest.fixture(scope="module")
def slurm():
    if "DENSEVSE_SLURM" not in os.environ:
        pytest.skip("starts daemons on this machine and writes /etc/slurm: only by `make slurm`")
    if not shutil.which("slurmctld") or not shutil.which("munged"):
        pytest.skip("no Slurm here: apt-get install slurm-wlm munge")
    if os.geteuid() != 0:
        pytest.skip("a Slurm of one's own needs root")
    subprocess.run([SCRIPT, "start"], check=True)
    yield
    subprocess.run([SCRIPT, "stop"], check=True)


def test_tables_through_slurm_equal_the_local_ones(slurm, make_project):
    local, cluster = make_project(SMALL_ROUNDS), make_project(SMALL_ROUNDS)
    local.run(*TABLES)
    done = cluster.run(*OPTIONS, *TABLES)
    submitted = done.stdout.count("submitted with SLURM jobid")
    print(f"{submitted} cluster jobs")
    jobs = sum(job_counts(done.stdout).values())
    assert 0 < submitted < jobs  # small jobs share one
    assert tables(cluster) == tables(local)
