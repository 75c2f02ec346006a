"""The wheel, installed beside this environment's packages, in folders without a checkout."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from densevse.dag.project import project_code
from tests.projects import ROOT, SMALL, job_counts
from tests.rules import rules

TABLE = "results/tables/scenes.md"
CURVES = "results/figures/scenes/training_curves.svg"  # of an analysis
REGIONS = "results/scenes/features/scenes_net/regions-selective_search_single/00-of-01.parquet"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder], ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def packages(wheel, tmp_path_factory):
    """The folder that the wheel is installed in."""
    folder = tmp_path_factory.mktemp("packages")
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", folder]
    _run([sys.executable, "-m", "pip", "install", *options, wheel], ROOT)
    return folder


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "test.yaml").write_text(json.dumps(SMALL))
    return tmp_path


def _run(command, folder, **variables):
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, command)), cwd=folder, env=outside | variables, check=True, capture_output=True, text=True
    )


def snakemake(root, folder, *arguments, **variables):
    """Run Snakemake in a folder with the Snakefile in `root`."""
    start = [sys.executable, "-m", "snakemake", "--snakefile", root / "Snakefile", "--cores", "2"]
    done = _run([*start, "--configfile", "test.yaml", *arguments], folder, **variables)
    return done.stdout + done.stderr


def files(folder):
    """The files of the project that git knows, or would."""
    listed = _run(["git", "ls-files", "--cached", "--others", "--exclude-standard", folder], ROOT).stdout.splitlines()
    return {file for file in listed if (ROOT / file).exists()}


def test_the_wheel_holds_the_package_and_the_workflow(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    around = {"Snakefile"}.union(*map(files, ("workflow", "config", "profiles", "envs")))
    around |= {"examples/flickr8k.yaml", "examples/flickr8k_lite.yaml"}  # settings that `densevse new` starts from
    package = {file for file in files("densevse") if "tests" not in Path(file).parts}
    assert {name for name in names if name.startswith("densevse/")} == package | {
        f"densevse/_project/{file}" for file in around
    }


def test_the_installed_project_is_found_without_a_checkout(packages, tmp_path):
    code = "from densevse.runtime.project import project_root; print(project_root())"
    found = _run([sys.executable, "-c", code], tmp_path, PYTHONPATH=str(packages)).stdout.strip()
    assert Path(found) == packages / "densevse/_project"
    assert (Path(found) / "Snakefile").is_file()


def test_digests_of_code_are_those_of_the_checkout(packages, tmp_path):
    ours = project_code(ROOT, tmp_path / "ours.json")
    installed = project_code(packages / "densevse/_project", tmp_path / "installed.json")
    calls = {rule.call for rule in rules().values() if rule.call}
    assert len(calls) > 50
    for call in calls:
        assert installed.digest(call) == ours.digest(call), call


def test_conda_is_refused_as_its_environments_lack_the_package(packages, folder):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        snakemake(packages / "densevse/_project", folder, "-n", "--sdm", "conda", PYTHONPATH=str(packages))
    assert "but not an installed densevse. Run the workflow from a checkout" in failed.value.stdout


@pytest.mark.long
def test_an_installed_package_runs_in_an_empty_folder(packages, folder):
    root = packages / "densevse/_project"
    planned = job_counts(snakemake(ROOT, folder, "-n", TABLE))
    assert planned["train"] == 2
    assert job_counts(snakemake(root, folder, "-n", TABLE, PYTHONPATH=str(packages))) == planned
    snakemake(root, folder, "--quiet", "all", "--", TABLE, REGIONS, CURVES, PYTHONPATH=str(packages))
    assert (folder / TABLE).read_text().startswith("#")
    assert "Nothing to be done" in snakemake(root, folder, "-n", TABLE, REGIONS, CURVES, PYTHONPATH=str(packages))
    # A checkout goes on with these results: it has the same code, and the same files of the project.
    assert "Nothing to be done" in snakemake(ROOT, folder, "-n", TABLE, REGIONS, CURVES)
