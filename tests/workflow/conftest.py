"""A project of its own for a test: the workflow's code linked or copied into an empty folder, and a way to run it."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("Snakefile", "workflow", "config", "profiles", "envs", "densevse")

# A data set small enough that a whole run takes seconds; what it measures is of no interest.
SMALL = {
    "datasets": {
        "scenes": {
            "options": {"images": {"train": 48, "val": 16, "test": 16}},
            "compare": ["vse", "vsepp"],
        }
    },
    "methods": {
        "vse": {"datasets": {"scenes": {"training": {"epochs": 2}, "parameters": {"dimension": 16}}}},
        "hm_lstm": {
            "datasets": {"scenes": {"rounds": 2, "training": {"epochs": 1}, "parameters": {"dimension": 16}}}
        },
    },
}


@dataclass
class Project:
    folder: Path

    def configure(self, values: dict) -> None:
        (self.folder / "test.yaml").write_text(json.dumps(values))

    def run(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
        options = [argument for argument in arguments if argument.startswith("-")]
        targets = [argument for argument in arguments if not argument.startswith("-")]
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "test.yaml"]
        command += [*options, "--", *targets]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == 0 or not check, done.stdout[-6000:]
        return done

    def planned(self, *targets: str) -> dict[str, int]:
        """Rule -> number of jobs that a run would start."""
        return job_counts(self.run("--dry-run", *targets).stdout)


def job_counts(text: str) -> dict[str, int]:
    """The table of jobs that Snakemake prints before a run."""
    counts = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) == 2 and parts[1].isdigit() and parts[0] != "total":
            counts[parts[0]] = int(parts[1])
    return counts


@pytest.fixture(scope="session")
def make_project(tmp_path_factory):
    def make(values: dict) -> Project:
        project = Project(tmp_path_factory.mktemp("project"))
        for name in CODE:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, project.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, project.folder / name)
        project.configure(values)
        return project

    return make


@pytest.fixture(scope="session")
def finished(make_project):
    """A project whose small table is made."""
    project = make_project(SMALL)
    project.run("results/tables/scenes.md")
    return project
