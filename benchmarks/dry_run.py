"""Dry runs of a table beside a plain workflow with as many rules and jobs: the processor seconds of each process."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks._timing import median_ratio
from densevse.runtime.project import project_root
from tests.projects import job_counts

RULE = """
rule step_{number}:
    input:
        {before}
    output:
        "results/{{name}}/step_{number}.txt",
    log:
        "logs/step_{number}_{{name}}.log",
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        given=lambda wildcards: {{"name": wildcards.name}},
    message:
        "step {number} of {{wildcards.name}}"
    script:
        "job.py"
"""


class Sizes(NamedTuple):
    """The table whose plan is timed, and how often."""

    target: str
    pairs: int


FULL = Sizes("results/tables/flickr30k.md", pairs=5)
TOY = Sizes("results/scenes/images.parquet", pairs=1)


def rows(sizes: Sizes = FULL) -> Iterator[tuple[str, str, float, str]]:
    """The name, the target, the measured ratio and a note of each comparison."""
    ours = ["--snakefile", str(project_root() / "Snakefile")]
    with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as folder:
        rules = len(_snakemake(folder, *ours, "--list-rules").split())
        jobs = job_counts(_snakemake(folder, *ours, "--dry-run", "--", sizes.target))
        targets = write_plain(Path(plain), rules, len(jobs), round(sum(jobs.values()) / len(jobs)))
        ratio = median_ratio(
            lambda: _seconds(plain, "--", *targets), lambda: _seconds(folder, *ours, "--", sizes.target), sizes.pairs
        )
    what = f"snakemake -n {sizes.target} / of {rules} plain rules and {len(jobs) * len(targets)} jobs"
    yield what, "<= 1.4", ratio, f"median of {sizes.pairs} pairs; {sum(jobs.values())} jobs"


def write_plain(folder: Path, rules: int, used: int, names: int) -> list[str]:
    """Writes a workflow of `rules`, the first `used` of which follow one another for each name; returns its targets."""
    text = [
        RULE.format(number=number, before=f'"results/{{name}}/step_{number - 1}.txt",' if number else "")
        for number in range(rules)
    ]
    (folder / "Snakefile").write_text("".join(text))
    (folder / "job.py").touch()
    return [f"results/{name}/step_{used - 1}.txt" for name in range(names)]


def _seconds(folder: str, *arguments: str) -> float:
    """The processor seconds of a dry run in a folder."""
    before = os.times()
    _snakemake(folder, "--dry-run", "--quiet", *arguments)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def _snakemake(folder: str, *arguments: str) -> str:
    """Runs Snakemake in a folder; returns what it prints."""
    command = [sys.executable, "-P", "-m", "snakemake", "--cores", "1", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
