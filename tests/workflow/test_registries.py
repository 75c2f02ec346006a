"""A reader, view, structure of sentences, architecture and yield, each of a user's own, in a run to retrieval."""

import json
import subprocess
import sys
from collections import OrderedDict

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from snakeproof import schema
from snakeproof.store import FeatureStore
from tests.system.newcomer.toy import METHOD, PARAMETERS

ADDED = {
    "densevse/extensions/readers/lines.py": """
from pydantic import Field

from densevse.config.readers import ReaderOptions


class Lines(ReaderOptions):
    IMPLEMENTATION = "densevse.datasets.lines"
    SOURCES = frozenset({"images", "text"})
    SENTENCES = "text"

    separator: str = Field(min_length=1)


DECLARED = Lines
""",
    "densevse/datasets/lines.py": """
from pathlib import Path

import pandas as pd


def read(options, paths):
    lines = Path(paths["text"]).read_text().splitlines()
    rows = pd.DataFrame([line.split(options.separator) for line in lines], columns=["split", "file", "text"])
    rows = rows.assign(image_id=rows["file"], source="images")
    return rows[["image_id", "source", "file", "split"]].drop_duplicates(), rows[["image_id", "text"]]
""",
    "densevse/vision/views/mirrored.py": """
from densevse.vision.crops import squeeze_image
from densevse.vision.views import Extraction


class Mirrored(Extraction):
    def crops(self, pixels, resize, size):
        return squeeze_image(pixels, size)[None, :, ::-1]


EXTRACTION = Mirrored()
""",
    "densevse/data/structures/letters.py": """
import torch

from densevse.data.structures import Structure


class Letters(Structure):
    def __init__(self, counts):
        self.counts = counts

    @classmethod
    def read(cls, texts, caption_ids):
        joined = ["".join(tokens) for tokens in texts.sentence_tokens(caption_ids)]
        counts = [[text.count(chr(letter)) for letter in range(ord("a"), ord("z") + 1)] for text in joined]
        return cls(torch.tensor(counts, dtype=torch.float32))

    def take(self, sentences):
        return self.counts[sentences]


STRUCTURE = Letters
""",
    "densevse/extensions/architectures/tiny.py": """
from densevse.config.registries import Architecture

DECLARED = Architecture({"pooled": "pool"}, "densevse.vision.architectures.tiny")
""",
    "densevse/vision/architectures/tiny.py": """
from collections import OrderedDict

from torch import nn


def untrained(architecture, state):
    parts = OrderedDict(conv=nn.Conv2d(3, 8, 3), pool=nn.AdaptiveAvgPool2d(2), flat=nn.Flatten(), fc=nn.Linear(32, 2))
    return nn.Sequential(parts)
""",
    "densevse/methods/toy.py": METHOD.replace('"whole"', '"mirrored"')
    .replace(
        "nn.EmbeddingBag(shapes.words, parameters.dimension, padding_idx=0)", "nn.Linear(26, parameters.dimension)"
    )
    .replace('sentences["words"].index', 'sentences["letters"]'),
    "densevse/methods/parameters/toy.py": PARAMETERS,
    "config/methods/toy.yaml": """
title: Toy
paper: vse
model: toy
views: [mirrored]
sentences: [letters]
yields: [guesses]
training: {batch_size: 8}
phases:
  main: {epochs: 1, learning_rate: 0.01}
""",
    "config/networks/tiny.yaml": """
architecture: tiny
local: tiny.safetensors
layers: {mirrored: pooled}
size: 32
resize: 32
precision: fp32
""",
    "config/datasets/toy.yaml": """
title: Toy
reader: lines
options: {separator: "|"}
local: {images: pictures, text: sentences.txt}
networks: {mirrored: tiny}
word_vectors: null
""",
}
TABLES = "densevse/config/registries.py"
ENTRIES = {
    'Registry[ViewFacts] = Registry(\n    "view",\n    {\n': '"mirrored": ViewFacts(extracted=True, one_vector=True),',
    'Registry(\n    "structure of sentences",\n    {\n': '"letters": StructureFacts(parsed=False),',
    'Registry(\n    "yield",\n    {\n': '"guesses": "guesses",',
}
"""The beginning of each table in that file -> the line that is added to it."""
RETRIEVED = "results/toy/retrieval/full/toy/seed0/round0.parquet"


def add_entries(file):
    text = file.read_text()
    for begin, entry in ENTRIES.items():
        assert begin in text
        text = text.replace(begin, begin + entry + "\n")
    file.write_text(text)


@pytest.fixture(scope="module")
def project(make_project):
    import cv2

    made = make_project({})
    for name, text in ADDED.items():
        assert not (made.folder / name).exists()
        (made.folder / name).write_text(text)
    add_entries(made.folder / TABLES)
    (made.folder / "pictures").mkdir()
    random, lines = np.random.default_rng(0), []
    for number in range(20):
        split = "train" if number < 12 else "val" if number < 16 else "test"
        cv2.imwrite(str(made.folder / f"pictures/{number}.png"), random.integers(0, 255, (40, 50, 3), np.uint8))
        lines += [
            f"{split}|{number}.png|a picture of {'abcdefghijklmnopqrst'[number] * 3} number {k}" for k in range(2)
        ]
    (made.folder / "sentences.txt").write_text("\n".join(lines))
    parts = OrderedDict(conv=nn.Conv2d(3, 8, 3), pool=nn.AdaptiveAvgPool2d(2), flat=nn.Flatten(), fc=nn.Linear(32, 2))
    torch.manual_seed(0)
    save_file(nn.Sequential(parts).state_dict(), made.folder / "tiny.safetensors")
    return made


@pytest.mark.long
def test_a_file_or_a_line_adds_what_a_run_reads(project):
    assert project.planned(RETRIEVED)["extract_features"] == 1
    project.run(RETRIEVED)
    assert schema.read(project.folder / RETRIEVED, RETRIEVAL)["query_id"].nunique() == 4 + 8
    store = FeatureStore([*project.folder.glob("results/toy/features/tiny/mirrored/*.parquet")], IMAGE_FEATURES)
    assert len(store.rows) == 20
    assert store.statement.wildcards["view"] == "mirrored"


def test_editors_are_told_the_new_names(project):
    told = subprocess.check_output([sys.executable, "-m", "densevse.config.schema"], cwd=project.folder, text=True)
    text = json.dumps(json.loads(told))
    for name in ("lines", "mirrored", "letters", "tiny", "guesses"):
        assert f'"{name}"' in text


@pytest.mark.long
def test_an_edit_of_one_reruns_its_users(project):
    project.run(RETRIEVED)
    users = {"extract_features": 1, "train": 1, "retrieve": 1}
    assert planned_after(project, "densevse/vision/views/mirrored.py", "::-1", "::-2") == users
    assert planned_after(project, "densevse/vision/architectures/tiny.py", "(3, 8, 3)", "(3, 8, 3, 1)") == users
    assert planned_after(project, "densevse/extensions/architectures/tiny.py", '"pool"', '"conv"') == users
    assert planned_after(project, "densevse/extensions/architectures/tiny.py", "({", '({"other": "conv", ') == {}


def planned_after(project, file, old, new):
    """The jobs that an edit reruns; the edit is taken back."""
    path = project.folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        return project.planned(RETRIEVED)
    finally:
        path.write_text(text)
