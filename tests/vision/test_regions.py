import io
import zipfile

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torchvision.models import get_model

from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.config.networks import RegionOptions
from densevse.vision import extract_regions as extraction
from densevse.vision.crops import squeeze_image, warp
from densevse.vision.extract import NetworkFiles
from densevse.vision.extract_regions import proposals_of_images
from densevse.vision.networks import CLASSES, load_network
from densevse.vision.regions import Described, RegionNetwork, Regions, network_head
from snakeproof.errors import InputError
from snakeproof.schema import read, write
from snakeproof.store import FeatureStore
from snakeproof.strict import validate
from tests.extraction import write_features, write_regions

CLASS_NAMES = [f"class {number}" for number in range(1000)]
SIZES = {"a": (70, 60), "b": (64, 64), "c": (50, 80), "none": (40, 40)}
SETTINGS = {
    "architecture": "squeezenet1_1",
    "layers": {"regions": "features"},
    "size": 64,
    "precision": "fp32",
    "batch_size": 16,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data set of four images with random proposals, and a network with random weights."""
    folder = tmp_path_factory.mktemp("regions")
    random = np.random.default_rng(0)
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        for image_id, (width, height) in SIZES.items():
            pixels = random.integers(0, 256, (height // 5, width // 5, 3), dtype=np.uint8)
            data = io.BytesIO()
            Image.fromarray(pixels).resize((width, height)).save(data, "PNG")
            archive.writestr(f"{image_id}.png", data.getvalue())
    images = [
        {"image_id": i, "source": "images", "file": f"{i}.png", "split": "train", "width": w, "height": h}
        | {"sha256": "", "family": "f", "captions": 0, "status": "ok"}
        for i, (w, h) in SIZES.items()
    ]
    write(images, IMAGES, folder / "images.parquet")
    write_proposals(folder, "00-of-01", ["a", "b", "c"])
    torch.manual_seed(0)
    module = get_model("squeezenet1_1", weights=None)
    save_file(module.state_dict(), folder / "weights.safetensors")
    return folder


def write_proposals(folder, shard, image_ids, class_name=""):
    rows = []
    for image_id in image_ids:
        random, (width, height) = np.random.default_rng(len(image_id) + ord(image_id[0])), SIZES[image_id]
        for rank in range(40):
            x, y = random.integers(0, width - 12), random.integers(0, height - 12)
            box = (x, y, random.integers(8, width - x + 1), random.integers(8, height - y + 1))
            rows.append({"image_id": image_id, "rank": rank, **dict(zip(BOX, box, strict=True)), "score": 0.5})
    frame = pd.DataFrame(rows, columns=["image_id", "rank", *BOX, "score"]).assign(class_name=class_name)
    write(frame, PROPOSALS, folder / "proposals" / f"{shard}.parquet")


def extract(folder, shard="00-of-01", out="regions", proposals="proposals", all_stay=False, **options):
    write_regions(
        folder / "images.parquet",
        folder / proposals / f"{shard}.parquet",
        {"images": str(folder / "images.zip")},
        NetworkFiles("squeezenet1_1", {**SETTINGS, "regions": options}, folder / "weights.safetensors"),
        CLASS_NAMES,
        shard,
        folder / out / f"{shard}.parquet",
        all_stay,
    )
    return FeatureStore([folder / out / f"{shard}.parquet"], REGION_FEATURES)


def test_regions_of_images_are_written_together_as_one_by_one(made, monkeypatch):
    extract(made, out="together", scoring="crops")
    monkeypatch.setattr("densevse.vision.extract_regions.IMAGES_AT_ONCE", 1)
    extract(made, out="apart", scoring="crops")
    together, apart = ((made / f"{out}/00-of-01.parquet").read_bytes() for out in ("together", "apart"))
    assert together == apart


WAYS = [
    {"scoring": "crops"},
    {"scoring": "roi_align", "features": "crops", "map": "features", "cells": 2},
    {"scoring": "roi_align", "features": "roi_align", "map": "features", "cells": 2, "map_size": 96},
]


@pytest.mark.parametrize("options", WAYS)
def test_boxes_that_were_chosen_before_all_stay(made, options):
    rows = extract(made, all_stay=True, **options).rows
    proposals = read(made / "proposals/00-of-01.parquet", PROPOSALS)
    for image_id, of_image in rows.groupby("image_id"):
        boxes = proposals.loc[proposals["image_id"] == image_id, BOX].to_numpy(np.float32)
        assert set(map(tuple, of_image[BOX].to_numpy()[1:])) == set(map(tuple, boxes)), image_id


@pytest.mark.parametrize("options", WAYS)
def test_the_whole_image_and_the_best_detections(made, options):
    store = extract(made, nms_threshold=0.3, detections=5, **options)
    assert store.shape == (512,)
    assert store.rows["image_id"].unique().tolist() == list(SIZES)
    for image_id, rows in store.rows.groupby("image_id"):
        width, height = SIZES[image_id]
        assert rows["rank"].tolist() == list(range(len(rows)))
        assert rows.iloc[0][BOX].tolist() == [0, 0, width, height]
        assert rows["class_name"].iloc[0] == ""
        assert len(rows) == (1 if image_id == "none" else 6)
        found = rows.iloc[1:]
        assert found["score"].is_monotonic_decreasing
        assert found["score"].between(0, 1).all()
        assert (found["x"] + found["width"] <= width).all()
        assert found["class_name"].isin(CLASS_NAMES).all()


def test_regions_of_a_class_do_not_repeat_each_other(made):
    rows = extract(made, nms_threshold=0.3, scoring="crops").rows
    for _, found in rows[rows["rank"] > 0].groupby(["image_id", "class_name"]):
        boxes = found[BOX].to_numpy()
        assert (intersection_over_union(boxes[:, None], boxes[None]) - np.eye(len(boxes))).max() <= 0.3 + 1e-6


def test_features_and_scores_are_those_of_the_warped_crop(made):
    for options in WAYS[:2]:
        store = extract(made, **options)
        network = load_network({**SETTINGS, "regions": {}}, made / "weights.safetensors")
        pixels = read_png(made, "a")
        rows = store.rows[store.rows["image_id"] == "a"]
        for number, row in list(enumerate(rows.to_dict("records")))[:4]:
            box = np.float32([row[column] for column in BOX])
            crop = warp(pixels, box, 64, 16, (124, 116, 104)) if row["rank"] else squeeze_image(pixels, 64)
            vector, scores = network.outputs(torch.from_numpy(crop).permute(2, 0, 1)[None], ["features", CLASSES])
            expected = vector.mean((2, 3)).cpu().numpy()
            np.testing.assert_allclose(store.gather([number]), expected, rtol=2e-2, atol=2e-3)
            if row["rank"]:
                assert row["score"] == pytest.approx(scores.softmax(1).max().item(), rel=1e-3)
                assert row["class_name"] == CLASS_NAMES[scores.argmax().item()]


@pytest.mark.parametrize("options", WAYS)
def test_the_whole_image_has_the_vector_of_the_view_whole(made, options):
    regions = extract(made, **options)
    settings = {**SETTINGS, "layers": {"whole": "features"}}
    network = NetworkFiles("squeezenet1_1", settings, made / "weights.safetensors")
    path = made / "view_whole" / "00-of-01.parquet"
    write_features(made / "images.parquet", {"images": str(made / "images.zip")}, network, "whole", "00-of-01", path)
    whole = FeatureStore([path], IMAGE_FEATURES)
    first = regions.rows.index[regions.rows["rank"] == 0]
    np.testing.assert_allclose(regions.gather(first), whole.gather(np.arange(len(whole))), rtol=2e-3, atol=2e-4)


def read_png(folder, image_id):
    with zipfile.ZipFile(folder / "images.zip") as archive:
        return np.array(Image.open(io.BytesIO(archive.read(f"{image_id}.png"))))


@pytest.mark.slow
@pytest.mark.parametrize("options", WAYS)
def test_division_into_shards_changes_no_bit(made, options):
    whole = extract(made, out="whole", **options)
    write_proposals(made, "00-of-02", ["a", "b"])
    write_proposals(made, "01-of-02", ["c"])
    for shard in ("00-of-02", "01-of-02"):
        extract(made, shard, out="divided", **options)
    divided = FeatureStore(
        [made / "divided" / f"{shard}.parquet" for shard in ("00-of-02", "01-of-02")], REGION_FEATURES
    )
    pd.testing.assert_frame_equal(divided.rows, whole.rows)
    every = np.arange(len(whole))
    np.testing.assert_array_equal(divided.gather(every), whole.gather(every))


def test_detections_are_chosen_by_their_own_scores_and_classes(made):
    write_detections(made)
    for options in WAYS:
        store = extract(made, out="detected", proposals="detections", nms_threshold=0.5, detections=2, **options)
        rows = store.rows[store.rows["image_id"] == "a"]
        assert rows["class_name"].tolist() == ["", "dog", "cat"]
        assert rows["score"].tolist()[1:] == pytest.approx([0.9, 0.8])
        assert rows[BOX].to_numpy().tolist() == [[0, 0, 70, 60], [10, 10, 30, 30], [10, 10, 30, 30]]
        assert np.array_equal(*store.gather(rows.index[1:])), "one box has one vector"
        assert store.rows["image_id"].unique().tolist() == list(SIZES)


def test_a_shard_without_detections_needs_no_classes_of_the_network(made, monkeypatch):
    def refuse(*_):
        raise InputError("the network has no classes")

    monkeypatch.setattr(extraction, "_check_classes", refuse)
    none = pd.DataFrame(columns=["image_id", "rank", *BOX, "score", "class_name"])
    write(none, PROPOSALS, made / "detections/00-of-01.parquet")
    rows = extract(made, out="detected", proposals="detections").rows
    assert rows["image_id"].tolist() == list(SIZES)
    assert set(rows["class_name"]) == {""}
    with pytest.raises(InputError, match="no classes"):
        extract(made)


def write_detections(made):
    """Two dogs of which one overlaps the other, a cat in the place of the better one, and a bird that scores less."""
    found = [("dog", 12, 10, 0.3), ("dog", 10, 10, 0.9), ("cat", 10, 10, 0.8), ("bird", 40, 10, 0.1)]
    rows = pd.DataFrame(found, columns=["class_name", "x", "y", "score"]).assign(image_id="a", width=30.0, height=30.0)
    rows = rows.sort_values("score", ascending=False).assign(rank=range(4))
    write(rows, PROPOSALS, made / "detections/00-of-01.parquet")


def test_a_shard_without_images_is_a_file_too(made):
    write_proposals(made, "00-of-09", [])
    for options in WAYS:
        empty = extract(made, "00-of-09", "empty", **options)
        assert (len(empty), empty.shape) == (0, (512,))


def test_only_the_first_proposals_are_looked_at(made):
    rows = extract(made, maximum_proposals=2).rows
    assert rows.groupby("image_id")["rank"].max().to_dict() == {"a": 2, "b": 2, "c": 2, "none": 0}


@pytest.mark.slow
def test_large_regions_can_be_preferred(made):
    proposals = read(made / "proposals" / "00-of-01.parquet", PROPOSALS)
    fifth = (proposals["width"] * proposals["height"]).groupby(proposals["image_id"]).nlargest(5)
    smallest = {}
    for exponent in (0, 8):
        rows = extract(made, detections=5, nms_threshold=1.0, area_exponent=exponent).rows
        found = rows[rows["rank"] > 0]
        smallest[exponent] = (found["width"] * found["height"]).groupby(found["image_id"]).min()
    fifth = fifth.groupby(level=0).min()
    assert (smallest[8] > 0.9 * fifth).all()
    assert (smallest[0] < 0.9 * fifth).all()


def test_no_region_is_background(made):
    usual = extract(made).rows["class_name"]
    background = usual[usual != ""].mode()[0]
    for score in ("probability", "class"):
        assert background not in set(extract(made, background=background, score=score).rows["class_name"])
    with pytest.raises(InputError, match="background"):
        extract(made, background="no such class")


@pytest.mark.parametrize("architecture", ["squeezenet1_1", "mobilenet_v3_small", "resnet18"])
def test_what_follows_the_map_gives_what_the_network_gives(architecture, tmp_path):
    torch.manual_seed(1)
    save_file(get_model(architecture, weights=None).state_dict(), tmp_path / "w.safetensors")
    feature_map = {"resnet18": "layer4"}.get(architecture, "features")
    layer = {"resnet18": "avgpool", "mobilenet_v3_small": "classifier.1"}.get(architecture, "features")
    settings = {**SETTINGS, "architecture": architecture, "layers": {"regions": layer}}
    network = load_network(settings, tmp_path / "w.safetensors")
    batch = torch.randint(0, 256, (2, 3, 96, 96), dtype=torch.uint8)
    with torch.inference_mode():
        found = network_head(network, feature_map, layer)(network.outputs(batch, [feature_map])[0])
    for one, expected in zip(found, network.outputs(batch, [layer, CLASSES]), strict=True):
        torch.testing.assert_close(one, expected)


def test_boxes_are_read_where_they_are_on_the_map(made):
    network = load_network({**SETTINGS, "regions": {}}, made / "weights.safetensors")
    image = np.random.default_rng(3).integers(0, 256, (127, 255, 3), dtype=np.uint8)
    maps = network.outputs(torch.from_numpy(image).permute(2, 0, 1)[None], ["features"])[0]
    height, width = 127 / maps.shape[2], 255 / maps.shape[3]
    cell = np.float32(
        [[5 * width, 2 * height, width, height]]
    )  # RoIAlign samples a cell between its neighbours' centres
    region = RegionNetwork(network, "features", "features").describe_boxes(image, cell, cells=1)
    near = maps[0, :, 1:4, 4:7].flatten(1).cpu().numpy()
    far = maps[0, :, 4:7, 9:12].flatten(1).cpu().numpy()
    distance = [np.abs(region.vectors[0][:, None] - cells).mean() for cells in (near, far)]
    assert distance[0] < distance[1]
    assert (region.vectors[0] <= near.max(axis=1) + 1e-5).all()
    assert (region.vectors[0] >= near.min(axis=1) - 1e-5).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": "guess"}, "scoring"),
        ({"nms": 0.3}, "nms"),
        ({"score": "best"}, "score"),
        ({"scoring": "crops", "features": "roi_align"}, "features: roi_align needs scoring"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        validate(RegionOptions, options, "networks.vgg19.regions")


def test_proposals_of_other_images_are_refused():
    rows = pd.DataFrame({"image_id": ["a"], "width": [100], "height": [50]})
    frame = pd.DataFrame([["b", 0, 0, 0, 5, 5, 1.0]], columns=["image_id", "rank", *BOX, "score"])
    with pytest.raises(InputError, match=r"p\.parquet.*'b'.*another data set"):
        proposals_of_images(frame, rows, 10, "p.parquet")
    with pytest.raises(InputError, match=r"p\.parquet: image a: a box outside its 100 x 50"):
        proposals_of_images(frame.assign(image_id="a", y=60.0), rows, 10, "p.parquet")


def test_a_proposal_that_is_the_whole_image_is_there_once():
    rows = pd.DataFrame({"image_id": ["a"], "width": [100], "height": [50]})
    values = [["a", 1, 0, 0, 100, 50, 1.0], ["a", 0, 0, 0, 100, 49, 1.0]]
    frame = pd.DataFrame(values, columns=["image_id", "rank", *BOX, "score"]).assign(class_name=["dog", "cat"])
    found = proposals_of_images(frame, rows, 10, "p")[0]
    assert found.boxes.tolist() == [[0, 0, 100, 50], [0, 0, 100, 49]]
    assert (found.scores.tolist(), found.classes.tolist()) == ([1], ["cat"])


def test_many_images_have_one_table_of_regions_with_the_classes_of_detections_alone():
    def regions(image_id, *classes):
        boxes = np.arange(4.0) + np.arange(len(classes))[:, None]
        described = Described(
            np.zeros((len(classes), 2), np.float32), np.ones(len(classes), np.float32), np.array(classes)
        )
        return Regions(image_id, boxes, described)

    images = [regions("a", 1, 0, 1), regions("b", 0, 1)]
    rows = extraction._rows(images, ["ball", "cat"])
    assert rows["image_id"].tolist() == ["a", "a", "a", "b", "b"]
    assert rows["rank"].tolist() == [0, 1, 2, 0, 1]
    assert rows[BOX].to_numpy().tolist() == [*images[0].boxes.tolist(), *images[1].boxes.tolist()]
    assert rows["class_name"].tolist() == ["", "ball", "cat", "", "cat"]  # rank 0 is the whole image
    assert extraction._rows(images)["class_name"].tolist() == [""] * 5  # true boxes
