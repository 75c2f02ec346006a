"""A package with a method, a reader, an architecture and a watcher, installed: run to a table, and edited."""

import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from densevse.artifacts.schemas.retrieval import RETRIEVAL
from snakeproof import schema
from tests.projects import Project, job_counts
from tests.workflow.plugin.shapes_and_lines.network import untrained

PACKAGE = Path(__file__).parent / "plugin"
TABLE = "results/tables/mine.md"
RETRIEVED = "results/mine/retrieval/full/mine/seed0/round0.parquet"
WATCHED = "results/logs/rows/mine/models/mine/seed0/round0/model/rows.json"
CONFIG = {
    "datasets": {
        "mine": {
            "title": "Mine",
            "reader": "lines",
            "options": {"separator": "|"},
            "local": {"images": "pictures", "text": "sentences.txt"},
            "networks": {"whole": "tiny"},
            "word_vectors": None,
        }
    },
    "networks": {
        "tiny": {
            "architecture": "tiny",
            "local": "tiny.safetensors",
            "layers": {"whole": "pooled"},
            "size": 32,
            "resize": 32,
            "precision": "fp32",
        }
    },
    "methods": {
        "mine": {
            "title": "A method of mine",
            "model": "mean_of_words",
            "views": ["whole"],
            "parameters": {"dimension": 8},
            "training": {"batch_size": 8},
            "phases": {"main": {"epochs": 1, "learning_rate": 0.01}},
        }
    },
    "tables": {"mine": {"title": "Mine", "sections": [{"dataset": "mine"}], "measure": ["mine"]}},
}
READ = """
import sys
from densevse.command.costs.jobs import Arithmetic
from densevse.command.shared import PlannedJob
from densevse.dag import training
from densevse.dag.project import Project
project = Project({root!r}, {config!r})
settings = training.job(project, "mine", "mine", 0).settings
arithmetic = Arithmetic(project)
assert arithmetic.job_work(PlannedJob("train", {{"dataset": "mine", "variant": "mine"}}, [], "train"))["products"] > 0
assert not arithmetic.unknown_methods
print(sorted(name for name in sys.modules if name.startswith("shapes_and_lines") or name == "torch"))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the package is installed in."""
    built, folder = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("packages")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built], cwd=PACKAGE, check=True)
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", folder]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, *built.glob("*.whl")], check=True)
    return folder


@pytest.fixture(scope="module")
def project(make_project, installed):
    made = make_project(CONFIG)
    (made.folder / "pictures").mkdir()
    random, lines = np.random.default_rng(0), []
    for number in range(20):
        split = "train" if number < 12 else "val" if number < 16 else "test"
        cv2.imwrite(str(made.folder / f"pictures/{number}.png"), random.integers(0, 255, (40, 50, 3), np.uint8))
        lines += [f"{split}|{number}.png|picture {'abcdefghijklmnopqrst'[number] * 3} {k}" for k in range(2)]
    (made.folder / "sentences.txt").write_text("\n".join(lines))
    torch.manual_seed(0)
    save_file(untrained("tiny", {}).state_dict(), made.folder / "tiny.safetensors")
    return made


def snakemake(project: Project, installed: Path, *options: str) -> str:
    command = [*project.command(), *options, "--", TABLE]
    variables = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(command, cwd=project.folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return done.stdout + done.stderr


def planned_after(project: Project, installed: Path, file: str, old: str, new: str) -> dict[str, int]:
    """The jobs that an edit of the package reruns; the edit is taken back."""
    path = installed / "shapes_and_lines" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        return job_counts(snakemake(project, installed, "--dry-run"))
    finally:
        path.write_text(text)


def test_the_plan_and_its_costs_import_the_declaration_and_the_reader_that_counts_images(project, installed):
    program = READ.format(root=str(project.folder), config=CONFIG)
    variables = {**os.environ, "PYTHONPATH": f"{project.folder}:{installed}"}
    found = subprocess.check_output([sys.executable, "-c", program], cwd=project.folder, env=variables, text=True)
    assert found.strip() == "['shapes_and_lines', 'shapes_and_lines.declared', 'shapes_and_lines.reader']"


@pytest.mark.slow
def test_an_installed_method_reader_and_network_make_a_row_and_an_edit_reruns_their_jobs(project, installed):
    project.configure({**CONFIG, "logging": {"rows": True}})
    snakemake(project, installed)
    (row,) = (project.folder / WATCHED).read_text().splitlines()
    assert json.loads(row)["epoch"] == 1
    project.configure(CONFIG)
    assert job_counts(snakemake(project, installed, "--dry-run")) == {}
    assert schema.read(project.folder / RETRIEVED, RETRIEVAL)["query_id"].nunique() == 4 + 8
    assert "A method of mine" in (project.folder / TABLE).read_text()
    assert planned_after(project, installed, "method.py", '"""An image', '"""One image') == {}
    assert planned_after(project, installed, "declared.py", "default=0.2", "default=0.3").keys() >= {"train", "table"}
    after = {"train": 1, "retrieve": 1, "table": 1}
    assert planned_after(project, installed, "units.py", "1.0", "2.0") == after
    assert planned_after(project, installed, "network.py", "(3, 8, 3)", "(3, 8, 3, 1)") == {
        **after,
        "extract_features": 1,
    }
    assert planned_after(project, installed, "reader.py", "drop_duplicates()", "drop_duplicates().copy()").keys() >= {
        "read_dataset"
    }
