"""The workflow through a real Slurm on this machine, with the profile that ships."""

import copy
import os
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from tests.cluster import GPU_RULES, PROFILE
from tests.projects import SMALL, SMALL_ROUNDS, Project, job_counts
from tests.system.torture.trial import tables

TABLES = ("results/tables/scenes.md", "results/tables/scenes_rounds.md")
SCRIPT = Path(__file__).parent / "one_machine.sh"
OPTIONS = (
    "--workflow-profile=profiles/slurm",
    "--slurm-no-account",
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=5",
)
LONG = copy.deepcopy(SMALL)
LONG["tables"]["scenes"]["measure"] = ["vse"]
LONG["methods"]["vse"]["datasets"]["scenes"]["phases"]["main"]["epochs"] = 1500
"""A training of about two minutes."""


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


def adapt(project: Project, **values) -> None:
    """Change keys of the project's profile, as its user would."""
    file = project.folder / PROFILE.relative_to(PROFILE.parents[2])
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), **values}))


def partitions() -> dict[str, set[str]]:
    """What Slurm has run of each rule or group since it began: the partitions, and the GPUs that were asked for."""
    shown = "--Format=Comment:200,Partition:20,tres-per-job:40"
    listed = subprocess.check_output(["squeue", "--states=all", "--noheader", shown], text=True)
    found: dict[str, set[str]] = {}
    for comment, partition, gpus in map(str.split, listed.splitlines()):
        rule = comment.removeprefix("rule_").partition("_wildcards_")[0]
        found.setdefault(rule, set()).add(f"{partition} {gpus}")
    return found


def test_tables_through_two_partitions_equal_the_local_ones(slurm, make_project):
    local, cluster = make_project(SMALL_ROUNDS), make_project(SMALL_ROUNDS)
    local.run(*TABLES)
    # The jobs ask for GPUs that Slurm counts and that are not there, and compute without.
    wanted = {rule: {"gpu": 1} for rule in GPU_RULES}
    adapt(cluster, **{"slurm-partition-config": "partitions.yaml", "set-resources": wanted})
    done = cluster.run(*OPTIONS, *TABLES)
    submitted = done.stdout.count("submitted with SLURM jobid")
    print(f"{submitted} cluster jobs")
    assert 0 < submitted < sum(job_counts(done.stdout).values())  # small jobs share one
    assert tables(cluster) == tables(local)
    ran = partitions()
    print(ran)
    assert {"train", "retrieve", "extract_features", "correspond"} <= set(ran)
    for rule, where in ran.items():
        assert where == ({"gpu gres:gpu:1"} if rule in GPU_RULES else {"cpu N/A"}), rule


def test_shards_are_an_array(slurm, make_project):
    values = copy.deepcopy(SMALL)
    values["datasets"]["scenes"]["shards"] = 3
    project = make_project(values)
    files = [f"results/scenes/features/scenes_net/whole/0{shard}-of-03.parquet" for shard in range(3)]
    done = project.run(*OPTIONS, *files)
    assert done.stdout.count("Submitted array job") == 1
    assert "The individual task IDs are 1-3." in done.stdout
    assert all((project.folder / file).is_file() for file in files)


def test_a_job_that_is_killed_for_its_memory_is_given_more(slurm, make_project):
    project = make_project(SMALL)
    script = project.folder / "workflow/scripts/count_words.py"
    script.write_text(f"import time\nheld = b'x' * 2_500_000_000\ntime.sleep(5)\n{script.read_text()}")
    words = "results/scenes/vocabulary/words.parquet"
    done = project.run(*OPTIONS, words)
    print(*[line for line in done.stdout.splitlines() if "SLURM" in line or "restart" in line], sep="\n")
    assert "SLURM status is: 'OUT_OF_MEMORY'" in done.stdout
    assert "Trying to restart job" in done.stdout
    assert (project.folder / words).is_file()


def test_a_training_that_meets_its_time_limit_goes_on(slurm, make_project):
    local, cluster = make_project(LONG), make_project(LONG)
    local.run(TABLES[0])
    adapt(cluster, **{"set-resources": {"train": {"runtime": 1}}, "retries": 8})
    done = cluster.run(*OPTIONS, TABLES[0])
    print(*[line for line in done.stdout.splitlines() if "SLURM" in line or "restart" in line], sep="\n")
    assert "SLURM status is: 'TIMEOUT'" in done.stdout
    (history,) = cluster.folder.glob("results/scenes/models/vse/seed0/round0/history.parquet")
    resumed = pq.read_table(history).column("resumed").to_pylist()
    print(f"resumed {resumed[-1]} times, {len(resumed)} epochs")
    assert resumed[-1] > 0
    assert tables(cluster) == tables(local)
