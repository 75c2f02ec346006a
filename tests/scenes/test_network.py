"""The network of scenes, and its training by the loop of all tasks."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from densevse.artifacts.boxes import BOX
from densevse.artifacts.images import ImageFiles, decode
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.artifacts.schemas.training import HISTORY
from densevse.config.networks import NetworkInput
from densevse.config.training import NamedPhase, TrainingConfig
from densevse.dag.project import Project
from densevse.datasets.readers import write_dataset
from densevse.datasets.true_boxes import write_boxes
from densevse.scenes import reader as scenes
from densevse.scenes.network import CELLS, ScenesNet, _facts
from densevse.scenes.release import LARGEST, release
from densevse.training.loop import Trainer
from densevse.training.scenes import NetworkJob
from densevse.vision.crops import warp
from densevse.vision.networks import load_network
from snakeproof.errors import InputError
from snakeproof.files import checksum
from snakeproof.schema import read, write
from snakeproof.seals import sealed_file
from snakeproof.statements import Statement, digest, making, statement_metadata
from tests.projects import ROOT
from tests.trainings import train_windows


def test_the_network_has_the_parts_of_a_torchvision_classifier():
    network = ScenesNet(classes=38).eval()
    pixels = torch.randn(2, 3, 64, 64)
    cells = network.features(pixels)
    assert cells.shape == (2, 128, 4, 4)
    assert torch.equal(network(pixels), network.classifier(network.avgpool(cells).flatten(1)))
    feature, logits = network.feature_and_logits(pixels)
    assert feature.shape == (2, 512)
    assert torch.equal(logits, network(pixels))


def test_the_facts_of_a_window():
    """A red ball (attributes 0 and 1) at the top left, a blue box (2 and 3) to the right of it and a little below."""
    where = np.array([[0.1, 0.1], [0.9, 0.3]], np.float32)
    facts = _facts(where, np.array([[1, 1, 0, 0], [0, 0, 1, 1]], np.float32))
    cells = facts[: CELLS * CELLS * 4].reshape(CELLS, CELLS, 4)
    assert np.argwhere(cells).tolist() == [[0, 0, 0], [0, 0, 1], [1, 3, 2], [1, 3, 3]]
    same, left_of, above = facts[CELLS * CELLS * 4 :].reshape(3, 4, 4)
    assert np.argwhere(same).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2], [2, 3], [3, 2], [3, 3]]
    assert np.argwhere(left_of).tolist() == [[0, 2], [0, 3], [1, 2], [1, 3]]
    assert not above.any()


SETTINGS = {
    "reader": "scenes",
    "options": {"seed": 0, "images": {"train": 40, "val": 20, "test": 10}, "size": 64},
    "known_unreadable": [],
}
PIXELS = NetworkInput(size=64, mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25))
COLOURS = ("red", "blue", "green", "yellow")
CLASSES = [
    *(f"{colour} {shape}" for colour in COLOURS for shape in ("ball", "box", "cone", "star", "ring")),
    "several things",
    "background",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    sources = {"scenes": str(folder / "scenes.zip")}
    scenes.generate(SETTINGS["options"], str(folder / "scenes.zip"))
    tables = str(folder / "images.parquet"), str(folder / "captions.parquet")
    write_dataset(SETTINGS, sources, *tables, 1)
    write_boxes(SETTINGS, sources, tables[0], str(folder / "boxes.parquet"))
    return folder


def recipe(epochs=1, batch_size=64, seed=0):
    phase = NamedPhase(name="all", epochs=epochs, learning_rate=3e-3, final_learning_rate=1e-4)
    training = TrainingConfig(optimizer="adamw", batch_size=batch_size, checkpoint_steps=1)
    return {"training": training, "phases": [phase], "seed": seed}


def train(folder, path, recipe, boxes="boxes.parquet", classes=CLASSES):
    tables = {"images": str(folder / "images.parquet"), "boxes": str(folder / boxes)}
    sources = {"scenes": str(folder / "scenes.zip")}
    job = NetworkJob(pixels=PIXELS, classes=classes, **recipe)
    train_windows(tables, sources, job, path, path.with_suffix(".parquet"), path.with_suffix(".txt"))
    return path


def test_the_same_data_give_the_same_bytes(folder, tmp_path):
    one, two = (train(folder, tmp_path / name, recipe()) for name in ("one", "two"))
    other = train(folder, tmp_path / "other", recipe(seed=1))
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes() != other.read_bytes()


@pytest.mark.long
def test_it_learns_the_classes_of_the_training_things(folder, tmp_path):
    classes = [*COLOURS, "several things", "background"]  # 40 pictures are enough to learn colours
    path = train(folder, tmp_path / "net.safetensors", recipe(epochs=20, batch_size=16), classes=classes)
    network = ScenesNet(len(classes))
    network.load_state_dict(load_file(path))
    network.eval()
    images, boxes = read(folder / "images.parquet", IMAGES), read(folder / "boxes.parquet", BOXES)
    files = ImageFiles({"scenes": str(folder / "scenes.zip")})
    things = boxes[boxes["caption_id"] == ""].merge(
        images[images["split"] == "train"], on="image_id", suffixes=("", "_image")
    )
    right = []
    for thing in things.to_dict("records"):
        pixels = decode(files.read(thing["source"], thing["file"]), thing["file"])
        crop = warp(pixels, np.array([thing[name] for name in BOX], np.float32), 64, 0, (128, 128, 128))
        with torch.no_grad():
            best = int(network((torch.from_numpy(crop).permute(2, 0, 1)[None] / 255 - 0.5) / 0.25).argmax())
        right.append(classes[best] in thing["phrase"].split())
    assert np.mean(right) > 0.4  # chance is 1 in 6


def test_labels_of_the_test_split_are_not_looked_at(folder, tmp_path):
    """Things of test may be of no class at all; one of the training split is an error that names it."""
    images, boxes = read(folder / "images.parquet", IMAGES), read(folder / "boxes.parquet", BOXES)
    split = boxes["image_id"].map(images.set_index("image_id")["split"])
    for rows, name in ((split == "test", "test.parquet"), (split == "train", "train.parquet")):
        changed = boxes.copy()
        changed.loc[rows & (boxes["caption_id"] == ""), "phrase"] = "a pink elephant"
        write(changed, replace(BOXES, rules=()), folder / name)
    unchanged = train(folder, tmp_path / "unchanged", recipe())
    same = train(folder, tmp_path / "same", recipe(), "test.parquet")
    one, other = load_file(unchanged), load_file(same)
    assert all(torch.equal(one[name], other[name]) for name in one)
    with pytest.raises(InputError, match="pink elephant"):
        train(folder, tmp_path / "not", recipe(), "train.parquet")
    assert not (tmp_path / "not").exists()


def test_an_interrupted_training_goes_on(folder, tmp_path, monkeypatch):
    whole, original, steps = train(folder, tmp_path / "whole", recipe(2)), Trainer.step, []

    def step(self, *given):
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt
        return original(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", step)
        with pytest.raises(KeyboardInterrupt):
            train(folder, tmp_path / "broken", recipe(2))
    resumed = train(folder, tmp_path / "broken", recipe(2))
    assert resumed.read_bytes() == whole.read_bytes()
    history = read(resumed.with_suffix(".parquet"), HISTORY)
    assert history["resumed"].max() == 1
    assert history["accuracy"].between(0, 1).all()


def test_a_release_is_the_trained_network_in_float16_with_a_card(folder, tmp_path):
    read = digest(folder / "images.parquet")
    job = Statement(
        given={"job": NetworkJob(pixels=PIXELS, classes=CLASSES, **recipe()).model_dump(mode="json")},
        inputs={"image_table": {"scenes/images.parquet": read}},
        above={read: {"given": {"reading": SETTINGS}}},
    )
    with making(job):
        trained = train(folder, tmp_path / "net.safetensors", recipe())
    release(trained, trained.with_suffix(".parquet"), tmp_path / "half.safetensors", tmp_path / "card.md")
    whole, half = load_file(trained), load_file(tmp_path / "half.safetensors")
    assert {value.dtype for value in half.values() if value.is_floating_point()} == {torch.float16}
    assert all(torch.allclose(half[name].float(), whole[name].float(), rtol=1e-3, atol=1e-4) for name in whole)
    card = (tmp_path / "card.md").read_text()
    assert "| Data | 40 pictures that `make_scenes` drew from seed 0" in card
    assert checksum(tmp_path / "half.safetensors") in card


def test_a_weight_that_float16_does_not_hold_is_refused_and_leaves_nothing(folder, tmp_path):
    trained = train(folder, tmp_path / "net.safetensors", recipe())
    weights = load_file(trained)
    weights["classifier.fc8.bias"][0] = 1e6
    with sealed_file(tmp_path / "large.safetensors") as large:
        save_file(weights, large, statement_metadata())
    with pytest.raises(InputError, match=r"large\.safetensors: classifier\.fc8\.bias has values beyond"):
        release(tmp_path / "large.safetensors", "history", tmp_path / "half.safetensors", tmp_path / "card.md")
    assert not (tmp_path / "half.safetensors").exists()


def test_the_network_that_comes_with_the_project_is_the_one_that_its_card_describes():
    """Its pictures are of another seed than those of scenes, and every entry that uses it names the same file."""
    project = Project(ROOT, {})
    released = ROOT / "config/networks/scenes_net.safetensors"
    card = released.with_suffix(".md").read_text()
    entries = [project.config.networks[name].weights for name in ("scenes_net", "scenes_net_fine")]
    assert {entry.packaged for entry in entries} == {"config/networks/scenes_net.safetensors"}
    assert {entry.sha256 for entry in entries} == {checksum(released)}
    assert checksum(released) in card
    assert released.stat().st_size <= LARGEST
    trained_on = project.config.networks["scenes_net"].trained_on
    seed, other = (project.datasets[name].options.seed for name in (trained_on, "scenes"))
    assert seed != other
    assert f"from seed {seed}" in card
    network = load_network(project.config.networks["scenes_net"].model_dump(), released)
    assert network.features(torch.zeros(1, 3, 64, 64), "classifier.relu7").shape == (1, 512)
