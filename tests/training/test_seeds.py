"""The name of a training is part of its seed: under another name every result would change."""

import hashlib

import pytest
import torch

from densevse.config.networks import NetworkInput
from densevse.config.training import TrainingJob
from densevse.data.files import Files
from densevse.training import concepts, generators, retrieval, scenes
from tests.concepts import Written
from tests.trainings import train_all, train_head, train_method, train_windows, train_writing

RECIPE = {
    "training": {"batch_size": 4},
    "phases": [{"name": "main", "epochs": 1, "learning_rate": 0.01}],
    "seed": 3,
}
PIXELS = NetworkInput(size=32)


@pytest.fixture
def run(tmp_path):
    """Runs trainings by their name here, into a folder of the test's own."""
    file = str(tmp_path / "input")
    (tmp_path / "input").write_text("unread")
    tables = dict.fromkeys(("images", "concepts", "image_concepts"), file)
    model, history = tmp_path / "model.safetensors", tmp_path / "history.parquet"
    written = Written(str(model), str(history), "classes.txt")
    files = Files({"words": file})

    def method(number):
        job = TrainingJob(method="vse", parameters={}, sentences=["words"], round=number, **RECIPE)
        train_method(files, job, model, history)

    def generator():
        job = TrainingJob(method="generators.sc_nlm", parameters={}, sentences=["tags"], **RECIPE)
        train_writing(files, job, model, history)

    def head():
        job = concepts.ConceptJob(concept_network="multi_label", **RECIPE)
        train_head(tables, [file], job, written)

    def pixels():
        of = {"built_from": "vgg19", "architecture": "vgg19", "pixels": PIXELS}
        job = concepts.PixelConceptJob(concept_network="multi_cnn", **of, **RECIPE)
        train_all(tables, {}, file, job, written)

    def network():
        job = scenes.NetworkJob(pixels=PIXELS, classes=["background"], **RECIPE)
        boxes = {"images": file, "boxes": file}
        train_windows(boxes, {}, job, model, history, tmp_path / "classes.txt")

    return {
        "round 0": lambda: method(0),
        "round 2": lambda: method(2),
        "generator": generator,
        "head": head,
        "pixels": pixels,
        "network": network,
    }


class MadeError(Exception):
    """A training has come to what it makes first; its message is the seed that torch has by then."""


def first_made(*_, **__):
    raise MadeError(torch.initial_seed())


@pytest.mark.parametrize(
    ("training", "seeded_by"),
    [
        ("round 0", "3/vse/round0"),
        ("round 2", "3/vse/round2"),
        ("generator", "3/generators.sc_nlm"),
        ("head", "3/multi_label"),
        ("pixels", "3/multi_cnn"),
        ("network", "3/scenes_net"),
    ],
)
def test_a_training_is_seeded_by_its_name(run, monkeypatch, training, seeded_by):
    monkeypatch.setattr(retrieval, "prepare_task", first_made)
    monkeypatch.setattr(generators, "Writing", first_made)
    monkeypatch.setattr(concepts, "FeatureStore", first_made)
    monkeypatch.setattr(concepts.ConceptTables, "read", first_made)
    monkeypatch.setattr(scenes, "read", first_made)
    with pytest.raises(MadeError) as made:
        run[training]()
    assert made.value.args == (int.from_bytes(hashlib.sha256(seeded_by.encode()).digest()[:8], "big") >> 1,)
