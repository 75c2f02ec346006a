"""A package with a method, a reader and an architecture as it was written for commit 5febe9e3, with old names."""

import os
import subprocess
import sys

import pytest

from densevse.artifacts.schemas.datasets import IMAGES
from snakeproof import schema
from tests.projects import job_counts
from tests.workflow.test_plugins import TABLE, project  # noqa: F401 (a fixture)

READ = "results/mine/images.parquet"
ENTRIES = """
[densevse.methods]
mean_of_words = older_plugin.declared:MeanOfWords
[densevse.readers]
lines = older_plugin.declared:Lines
[densevse.architectures]
tiny = older_plugin.declared:TINY
"""
DECLARED = '''
from typing import ClassVar

from pydantic import Field

from densevse.config.readers import ReaderOptions
from densevse.config.registries import Architecture
from densevse.config.strict import Length, Strict


class MeanOfWords(Strict):
    """The parameters of a method."""

    IMPLEMENTATION: ClassVar = "older_plugin.method"

    dimension: Length = Field(default=16, description="of the joint space")
    margin: float = Field(default=0.2, ge=0, description="by which matching pairs must score higher")


class Lines(ReaderOptions):
    """Lines of a split, a file and a sentence."""

    IMPLEMENTATION = "older_plugin.reader"
    SOURCES = frozenset({"images", "text"})
    SENTENCES = "text"

    separator: str = Field(min_length=1, description="what stands between them")


TINY = Architecture({"pooled": "pool"}, "older_plugin.network")
'''
METHOD = """
from torch import nn
from torch.nn import functional

from densevse.methods.interface import DualEncoder, Embeddings
from densevse.methods.parts import sum_of_hinges
from densevse.runtime.logs import logger


class MeanOfWords(DualEncoder):
    def __init__(self, parameters, shapes):
        super().__init__(parameters, shapes)
        self.image = nn.Linear(shapes.features["whole"], parameters.dimension)
        self.words = nn.EmbeddingBag(shapes.words, parameters.dimension, padding_idx=0)
        logger.info("%s words", shapes.words)

    def encode_images(self, images):
        return Embeddings(functional.normalize(self.image(images.views["whole"])))

    def encode_sentences(self, sentences):
        return Embeddings(functional.normalize(self.words(sentences["words"].index)))

    def loss(self, images, sentences, batch, moment):
        return sum_of_hinges(self.score(images, sentences), batch.positives, moment.parameters.margin)


METHOD = MeanOfWords
"""
READER = """
from pathlib import Path

import pandas as pd

from densevse.artifacts import schema
from densevse.runtime.errors import InputError


def read(options, paths):
    lines = Path(paths["text"]).read_text().splitlines()
    if not lines:
        raise InputError(f"{paths['text']}: no lines.")
    rows = pd.DataFrame([line.split(options.separator) for line in lines], columns=[schema.SPLIT.name, "file", "text"])
    rows = rows.assign(**{schema.IMAGE_ID.name: rows["file"], "source": "images"})
    return rows[["image_id", "source", "file", "split"]].drop_duplicates(), rows[["image_id", "text"]]
"""
NETWORK = """
from collections import OrderedDict

from torch import nn


def untrained(architecture, state):
    parts = OrderedDict(conv=nn.Conv2d(3, 8, 3), pool=nn.AdaptiveAvgPool2d(2), flat=nn.Flatten(), fc=nn.Linear(32, 2))
    return nn.Sequential(parts)
"""
MODULES = {"__init__": "", "declared": DECLARED, "method": METHOD, "reader": READER, "network": NETWORK}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the package is installed in."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "older_plugin").mkdir()
    for name, text in MODULES.items():
        (folder / f"older_plugin/{name}.py").write_text(text)
    described = folder / "older_plugin-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: older-plugin\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(ENTRIES)
    return folder


@pytest.fixture
def snakemake(project, installed):  # noqa: F811
    def run(*arguments):
        command = [*project.command(), *arguments]
        variables = {**os.environ, "PYTHONPATH": str(installed)}
        done = subprocess.run(command, cwd=project.folder, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
        return done.stdout + done.stderr

    return run


@pytest.mark.slow
def test_it_is_planned_and_its_reader_runs(project, snakemake):  # noqa: F811
    assert job_counts(snakemake("--dry-run", "--", TABLE)).keys() >= {"read_dataset", "extract_features", "train"}
    snakemake("--", READ)
    assert len(schema.read(project.folder / READ, IMAGES)) == 20


@pytest.mark.long
def test_its_method_and_its_network_make_a_row(project, snakemake):  # noqa: F811
    snakemake("--", TABLE)
    assert "A method of mine" in (project.folder / TABLE).read_text()
    assert job_counts(snakemake("--dry-run", "--", TABLE)) == {}


def test_whoever_imports_it_is_told_of_each_new_place(installed):
    program = "import older_plugin.declared, older_plugin.method, older_plugin.reader"
    variables = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-W", "always::DeprecationWarning", "-c", program]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    told = [line.partition("older_plugin/")[2] for line in done.stderr.splitlines() if " is now " in line]
    assert [(line.partition(":")[0], line.split(" is now ")[1].split(";")[0]) for line in told] == [
        ("declared.py", "snakeproof.strict"),
        ("method.py", "snakeproof.logs"),
        ("reader.py", "snakeproof.schema"),
        ("reader.py", "snakeproof.errors"),
    ]
