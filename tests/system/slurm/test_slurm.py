"""The workflow through a real Slurm on this machine, with the profile that ships."""

import copy
import os
import re
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
LONG["methods"]["vse"]["datasets"]["scenes"]["phases"]["main"]["epochs"] = 400
SLOW = """import os, time
from torch.optim.optimizer import register_optimizer_step_post_hook
if "SLURM_JOB_ID" in os.environ:
    register_optimizer_step_post_hook(lambda *_: time.sleep(0.15))
"""
"""Before a script that trains: a job of Slurm takes four minutes at least, and computes the same as elsewhere."""


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


def precede(project: Project, rule: str, code: str) -> None:
    """Put code before the function of a rule's jobs."""
    runner, within = project.folder / "workflow/scripts/job.py", "        "
    head, call, tail = runner.read_text().partition(f"{within}run(snakemake, ")
    assert call
    lines = [f"{within}if snakemake.rule == {rule!r}:", *(f"{within}    {line}" for line in code.splitlines())]
    runner.write_text("\n".join([head.rstrip("\n"), *lines, call + tail]))


def listed(name: str) -> list[list[str]]:
    """A field of each job that Slurm has run since it began, after its comment, which names its rule or group."""
    shown = f"--Format=Comment:200,{name}:40"
    found = subprocess.check_output(["squeue", "--states=all", "--noheader", "--sort=i", shown], text=True)
    return [line.split() for line in found.splitlines()]


def of_rules(name: str) -> dict[str, list[str]]:
    """The same by rule."""
    found: dict[str, list[str]] = {}
    for comment, value in listed(name):
        found.setdefault(comment.removeprefix("rule_").partition("_wildcards_")[0], []).append(value)
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
    where, asked = of_rules("Partition"), of_rules("tres-per-job")
    print(*((rule, set(where[rule]), set(asked[rule])) for rule in where), sep="\n")
    assert {"train", "retrieve", "extract_features", "correspond"} <= set(where)
    for rule in where:
        expected = ("gpu", "gres:gpu:1") if rule in GPU_RULES else ("cpu", "N/A")
        assert ({expected[0]}, {expected[1]}) == (set(where[rule]), set(asked[rule])), rule


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
    precede(project, "count_words", "import time\nheld = b'x' * 2_500_000_000\ntime.sleep(5)\n")
    words = "results/scenes/vocabulary/words.parquet"
    done = project.run(*OPTIONS, words)
    logs = [file.read_text() for file in project.folder.glob(".snakemake/slurm_logs/group_words*/*.log")]
    assert "exceeded memory limit" in "".join(logs)  # the log of an attempt that succeeded is not kept
    assert done.stdout.count("Trying to restart job") == 1
    assert (project.folder / words).is_file()
    asked = of_rules("MinMemory")["words_count_words"][-2:]
    print(asked, *re.findall(r"exceeded memory limit.*", "".join(logs))[:1])
    assert asked == ["2000M", "4000M"]


def test_a_training_that_meets_its_time_limit_goes_on(slurm, make_project):
    local, cluster = make_project(LONG), make_project(LONG)
    for project in (local, cluster):
        precede(project, "train", SLOW)
    local.run(TABLES[0])
    # The same memory for each attempt: thirty times as much, no node has.
    adapt(cluster, **{"set-resources": {"train": {"runtime": 2, "mem_mb": 3000}}, "retries": 30})
    done = cluster.run(*OPTIONS, TABLES[0])
    print(*[line for line in done.stdout.splitlines() if "SLURM" in line or "restart" in line], sep="\n")
    assert "SLURM status is: 'TIMEOUT'" in done.stdout
    (history,) = cluster.folder.glob("results/scenes/models/vse/seed0/round0/history.parquet")
    resumed = pq.read_table(history).column("resumed").to_pylist()
    print(f"resumed {resumed[-1]} times, {len(resumed)} epochs")
    assert resumed[-1] > 0
    assert tables(cluster) == tables(local)
