"""`pip install .` without an extra: its packages are enough, where no others are installed."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

import densevse
from tests.command.test_compare import data_set, retrieve
from tests.projects import ROOT

NAMED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
SCORES = np.random.default_rng(0).normal(size=(12, 60)).astype(np.float32)
SCORES[np.arange(60) // 5, np.arange(60)] += 2  # better than chance, of which a warning would say otherwise
IMPORTED = """
import sys
import snakeproof.schema, snakeproof.statements, snakeproof.store
import densevse.command.comparison
import densevse.evaluation.given.relevance, densevse.evaluation.retrieval, densevse.statistics.rankings
from densevse import evaluate
for name in ("torch", "snakemake", "cv2", "stanza", "sklearn", "yaml", "safetensors", "PIL", "tqdm"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    sys.exit(f"{name} is there")
"""

pytestmark = pytest.mark.slow


def needed(requirement):
    """The installed distributions that a requirement needs: its own, and all that this needs."""
    found = distribution(requirement.name)
    named = map(Requirement, found.requires or [])
    asked = [one for one in named if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [found, *(further for one in asked for further in needed(one))]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder of links to the packages that the wheel needs, which stands for an environment of its own."""
    folder = tmp_path_factory.mktemp("packages")
    for requirement in map(Requirement, NAMED):
        for found in needed(requirement):
            for top in {file.parts[0] for file in found.files if file.parts[0] != ".."}:
                (folder / top).unlink(missing_ok=True)
                (folder / top).symlink_to(Path(found.locate_file(top)))
    return folder


def python(packages, *arguments):
    """Runs Python, with these packages and those of the project alone."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(packages), str(ROOT)])}
    command = [sys.executable, "-S", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_nothing_else_is_imported(packages):
    done = python(packages, "-c", IMPORTED)
    assert (done.returncode, done.stderr) == (0, "")


def test_scores_are_evaluated(packages, tmp_path):
    np.save(tmp_path / "scores.npy", SCORES)
    done = python(packages, "-m", "densevse", "evaluate", tmp_path / "scores.npy", "--per-image", 5, "--intervals")
    assert (done.returncode, done.stderr) == (0, "")
    found = densevse.evaluate(SCORES, np.arange(60) // 5, intervals=True)
    assert f"rsum  {found['rsum']:7.1f} ({found['rsum_low']:.1f} to {found['rsum_high']:.1f})" in done.stdout


def test_retrievals_are_compared(packages, tmp_path):
    place = data_set(tmp_path)
    files = [retrieve(place, "vse", 1, worse=3), retrieve(place, "vsepp", 2)]
    done = python(packages, "-m", "densevse", "compare", *files)
    assert (done.returncode, done.stderr) == (0, "")
    assert "second - first" in done.stdout


@pytest.mark.parametrize("command", [["run"], ["plan", "all"], ["list"]])
def test_the_workflow_names_its_extra(packages, command):
    done = python(packages, "-m", "densevse", *command)
    assert done.returncode == 1
    assert f"densevse {command[0]}: the workflow needs snakemake, which is not installed" in done.stderr
    assert "Run `make environment` in" in done.stderr


def test_a_network_names_its_extra(packages):
    done = python(packages, "-m", "densevse", "evaluate", "--model", "open_clip:ViT-B-32", "--data", "mine.yaml")
    assert done.returncode == 1
    assert "Run `make environment` in" in done.stderr


def test_the_package_of_safetensors_is_named(packages, tmp_path):
    (tmp_path / "scores.safetensors").write_bytes(b"")
    done = python(packages, "-m", "densevse", "evaluate", tmp_path / "scores.safetensors", "--per-image", 5)
    assert "scores.safetensors: needs safetensors" in done.stderr
