"""Small trained models of several methods, in folders like those of a training, and a network for photographs."""

from pathlib import Path

import cv2
import numpy as np
import pandas as pd
import pytest
import torch
import torchvision

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.sentences import WORDS
from densevse.methods.interface import Shapes
from densevse.models.files import build_method, save_model
from snakeproof import schema
from snakeproof.files import checksum
from snakeproof.statements import Statement, digest, making
from tests.miniature import KNOWN

NETWORK = {
    "architecture": "squeezenet1_0",
    "size": 64,
    "resize": 72,
    "mean": [0.5, 0.5, 0.5],
    "std": [0.25, 0.25, 0.25],
    "batch_size": 4,
    "precision": "fp32",
}
VSE = {"dimension": 16, "word_dimension": 8}
METHODS = {
    "vse": ("vse", "whole", VSE),
    "vsepp": ("vse", "centre", {**VSE, "encoder": "gru", "negatives": "hardest"}),
    "order": ("vse", "whole", {**VSE, "similarity": "order"}),
    "bag_of_words": ("vse", "whole", {**VSE, "encoder": "bag_of_words", "branches": "normalised"}),
    "sco_context": ("sco", "ten_crop", {"dimension": 16, "word_dimension": 8, "longest_sentence": 20}),
}
"""Variant -> its method, view and parameters."""


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """A folder with results, resources and photographs."""
    project = tmp_path_factory.mktemp("project")
    weights = project / "resources/tiny/tiny.pth"
    weights.parent.mkdir(parents=True)
    (project / "resources/tiny/notes.txt").write_text("of the user's own")
    torch.manual_seed(0)
    torch.save(torchvision.models.get_model("squeezenet1_0", weights=None).state_dict(), weights)
    words = pd.DataFrame({"index": range(2, 2 + len(KNOWN)), "word": KNOWN, "count": 1})
    schema.write(words, WORDS, project / "results/mine/vocabulary/words.parquet")
    schema.write([], IMAGES, project / "results/mine/images.parquet")
    for variant in METHODS:
        write_model(project, variant)
    (project / "photographs").mkdir()
    random = np.random.default_rng(0)
    for number in range(6):
        noise = random.integers(256, size=(6, 7, 3), dtype=np.uint8)
        cv2.imwrite(str(project / f"photographs/{number}.png"), cv2.resize(noise, (80 + number, 90 - number)))
    return project


def write_model(project: Path, variant: str) -> None:
    """Writes an untrained model of a variant, as if it were trained."""
    method, view, parameters = METHODS[variant]
    seen = {"network": "tiny", **NETWORK, "layers": {view: "pooled"}, "view": view, "parents": {}}
    seen["weights_sha256"] = checksum(project / "resources/tiny/tiny.pth")
    torch.manual_seed(1)
    built = build_method(method, parameters, Shapes({view: 512}, 2 + len(KNOWN)))
    words = "mine/vocabulary/words.parquet"
    folder = folder_of(project, variant)
    folder.mkdir(parents=True)
    with making(Statement(inputs={"words": {words: digest(project / "results" / words)}})):
        save_model(built, method, ["words"], folder / "model.safetensors", features={view: seen})


def folder_of(project: Path, variant: str) -> Path:
    """The folder of a variant's model."""
    return project / f"results/mine/models/{variant}/seed0/round0"


@pytest.fixture(scope="session")
def photographs(project):
    """The paths of the photographs."""
    return sorted((project / "photographs").iterdir())
