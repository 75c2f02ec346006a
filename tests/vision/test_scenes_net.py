import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from densevse.artifacts.boxes import BOX
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.datasets import scenes
from densevse.datasets.images import ImageFiles, decode
from densevse.datasets.readers import write_boxes, write_dataset
from densevse.errors import InputError
from densevse.vision.crops import warp
from densevse.vision.scenes_net import CELLS, Recipe, ScenesNet, _facts, train_scenes_net

SETTINGS = {
    "reader": "scenes",
    "options": {"seed": 0, "images": {"train": 40, "val": 1, "test": 10}, "size": 64},
    "known_unreadable": [],
}
NETWORK = {"size": 32, "mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}
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
    scenes.generate(SETTINGS["options"], sources["scenes"])
    write_dataset(SETTINGS, sources, 1, str(folder / "images.parquet"), str(folder / "captions.parquet"))
    write_boxes(SETTINGS, sources, str(folder / "images.parquet"), str(folder / "boxes.parquet"))
    return folder


def train(folder, path, recipe, boxes="boxes.parquet", classes=CLASSES):
    sources = {"scenes": str(folder / "scenes.zip")}
    train_scenes_net(str(folder / "images.parquet"), str(folder / boxes), sources, NETWORK, classes, 1, path, recipe)
    return path


def test_the_network_has_the_parts_of_a_torchvision_classifier():
    network = ScenesNet(classes=38).eval()
    pixels = torch.randn(2, 3, 64, 64)
    cells = network.features(pixels)
    assert cells.shape == (2, 128, 8, 8)
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


def test_the_same_data_give_the_same_bytes(folder, tmp_path):
    one, two = (train(folder, tmp_path / name, Recipe(epochs=1)) for name in ("one", "two"))
    other = train(folder, tmp_path / "other", Recipe(epochs=1, seed=1))
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes() != other.read_bytes()


def test_it_learns_the_classes_of_the_training_things(folder, tmp_path):
    classes = [*COLOURS, "several things", "background"]  # 40 pictures are enough to learn colours
    path = train(folder, tmp_path / "net.safetensors", Recipe(epochs=12, batch_size=16), classes=classes)
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
        crop = warp(pixels, np.array([thing[name] for name in BOX], np.float32), 32, 0, (128, 128, 128))
        with torch.no_grad():
            best = int(network((torch.from_numpy(crop).permute(2, 0, 1)[None] / 255 - 0.5) / 0.25).argmax())
        right.append(classes[best] in thing["phrase"].split())
    assert np.mean(right) > 0.6  # chance is 1 in 6


def test_labels_come_from_the_training_split_only(folder, tmp_path):
    """Things of other splits may be of no class at all; one of the training split is an error that names it."""
    images, boxes = read(folder / "images.parquet", IMAGES), read(folder / "boxes.parquet", BOXES)
    train_images = boxes["image_id"].isin(images.loc[images["split"] == "train", "image_id"])
    for rows, name in ((~train_images, "test.parquet"), (train_images, "train.parquet")):
        changed = boxes.copy()
        changed.loc[rows & (boxes["caption_id"] == ""), "phrase"] = "a pink elephant"
        write(changed, BOXES, folder / name, {})
    unchanged = train(folder, tmp_path / "unchanged", Recipe(epochs=1))
    same = train(folder, tmp_path / "same", Recipe(epochs=1), "test.parquet")
    assert same.read_bytes() == unchanged.read_bytes()
    with pytest.raises(InputError, match="pink elephant"):
        train(folder, tmp_path / "not", Recipe(epochs=1), "train.parquet")
    assert not (tmp_path / "not").exists()
