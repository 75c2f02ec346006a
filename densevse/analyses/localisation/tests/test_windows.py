"""Windows of images at several scales, and a network's features of them."""

from dataclasses import replace

import cv2
import numpy as np
import pandas as pd
import pytest
import torch
import torchvision

from densevse.analyses.localisation.windows import WINDOW_FEATURES, extract_windows, windows
from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.vision.networks import load_network
from densevse.vision.views import load_extraction
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore

SETTINGS = {
    "architecture": "squeezenet1_0",
    "layers": {"whole": "pooled"},
    "nodes": {"pooled": "features"},
    "size": 64,
    "resize": 72,
    "batch_size": 4,
    "precision": "fp32",
}
CHOSEN = {"images": 2, "sides": [0.5, 1.0], "stride": 0.5}
SIZES = {"wide": (90, 60), "dot": (1, 1), "tall": (40, 80), "nameless": (50, 50), "broken": (50, 50)}


@pytest.mark.parametrize("size", [(96, 96), (500, 375), (33, 101), (3, 2), (1, 1), (1, 40)])
@pytest.mark.parametrize("stride", [0.25, 0.7, 1.0])
@pytest.mark.parametrize("share", [0.2, 0.33, 1.0])
def test_windows_of_each_scale_cover_every_pixel_and_stay_inside(size, stride, share):
    width, height = size
    seen = np.zeros((height, width), int)
    found = windows(width, height, [share], stride)
    for x, y, side, other in found.astype(int):
        assert side == other == max(1, round(share * min(size)))
        assert 0 <= x <= width - side
        assert 0 <= y <= height - side
        seen[y : y + side, x : x + side] += 1
    assert seen.min() >= 1
    steps = np.diff(np.unique(found[:, 0]))
    assert (steps <= np.ceil(stride * found[0, 2])).all()


def test_windows_come_scale_by_scale_and_line_by_line():
    expected = [[0, 0, 2, 2], [2, 0, 2, 2], [4, 0, 2, 2], [0, 2, 2, 2], [2, 2, 2, 2], [4, 2, 2, 2]]
    expected += [[0, 0, 4, 4], [2, 0, 4, 4]]
    np.testing.assert_array_equal(windows(6, 4, [0.5, 1.0], 1.0), expected)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Test images of several sizes, one without a box and one that cannot be read, and a network."""
    folder = tmp_path_factory.mktemp("windows")
    random = np.random.default_rng(0)
    rows = []
    for name, (width, height) in SIZES.items():
        noise = random.integers(256, size=(-(-height // 12), -(-width // 12), 3), dtype=np.uint8)
        cv2.imwrite(str(folder / f"{name}.png"), cv2.resize(noise, (width, height)))
        rows.append({"image_id": name, "file": f"{name}.png", "width": width, "height": height})
    (folder / "broken.png").write_bytes(b"not an image")
    table = pd.DataFrame(rows).assign(source="images", split="test", sha256="", captions=0, family="f", status="ok")
    schema.write(table, IMAGES, folder / "images.parquet")
    boxes = pd.DataFrame({"image_id": ["wide", "dot", "tall"], "phrase": "dog", "caption_id": ""})
    boxes = boxes.assign(start=-1, end=-1, **dict.fromkeys(BOX, 1.0))
    schema.write(boxes, replace(BOXES, rules=()), folder / "boxes.parquet")
    schema.write(boxes.assign(image_id="broken"), replace(BOXES, rules=()), folder / "broken.parquet")
    schema.write(boxes[:0], replace(BOXES, rules=()), folder / "none.parquet")
    torch.manual_seed(0)
    torch.save(torchvision.models.get_model("squeezenet1_0", weights=None).state_dict(), folder / "weights.pth")
    return folder


def extracted(folder, path, boxes="boxes", **changes):
    files = {"image_table": str(folder / "images.parquet"), "boxes": str(folder / f"{boxes}.parquet")}
    sources = {"sources": {"images": str(folder)}}
    network = {"network": SETTINGS, "weights": str(folder / "weights.pth"), "threads": 1}
    wildcards = {"network": "squeezenet1_0", "view": "whole"}
    extract_windows(**files, **sources, **network, chosen=CHOSEN | changes, output=str(path), wildcards=wildcards)
    return FeatureStore([path], WINDOW_FEATURES)


def test_a_window_is_seen_as_an_image_of_its_own(folder, tmp_path):
    store = extracted(folder, tmp_path / "windows.parquet")
    assert list(store.rows["image_id"].unique()) == ["wide", "tall"]  # two of three, evenly spaced
    wide = store.rows[store.rows["image_id"] == "wide"]
    np.testing.assert_array_equal(wide[BOX], windows(90, 60, CHOSEN["sides"], CHOSEN["stride"]))
    pixels = cv2.imread(str(folder / "wide.png"))[:, :, ::-1]
    network = load_network(SETTINGS, folder / "weights.pth")
    for row, (x, y, side, _) in enumerate(wide[BOX].to_numpy(int)):
        crop = load_extraction("whole").crops(pixels[y : y + side, x : x + side], 72, 64)
        expected = network.features(torch.from_numpy(crop.copy()).permute(0, 3, 1, 2), "pooled").numpy()
        np.testing.assert_allclose(store.gather([row]), expected, rtol=2e-3, atol=1e-3)


def test_an_image_of_one_pixel_has_windows_too(folder, tmp_path):
    rows = extracted(folder, tmp_path / "windows.parquet", images=3).rows
    np.testing.assert_array_equal(rows.loc[rows["image_id"] == "dot", BOX], [[0, 0, 1, 1]] * 2)


@pytest.mark.parametrize(("boxes", "message"), [("broken", r"broken\.png"), ("none", "no readable test image")])
def test_an_unreadable_image_and_no_box_at_all_are_errors_and_leave_no_file(folder, tmp_path, boxes, message):
    with pytest.raises(InputError, match=message):
        extracted(folder, tmp_path / "windows.parquet", boxes)
    assert not list(tmp_path.iterdir())
