import cv2
import numpy as np
import pandas as pd
import pytest
import torch
import torchvision

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, network_settings
from densevse.artifacts.shards import shard_names
from densevse.vision.extract import NetworkFiles, write_precision
from densevse.vision.networks import load_network
from densevse.vision.views import load_extraction
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import checksum
from snakeproof.statements import Statement, making
from snakeproof.store import FeatureStore
from tests.extraction import write_features

COUNT, BROKEN = 11, 4
SETTINGS = {
    "architecture": "squeezenet1_0",
    "layers": {"whole": "pooled", "centre": "pooled", "ten_crop": "pooled", "grid": "conv"},
    "nodes": {"conv": "features", "pooled": "features"},
    "size": 64,
    "resize": 72,
    "batch_size": 4,
    "precision": "fp32",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures of several sizes (one of them not an image), their table, and a network with random weights."""
    folder = tmp_path_factory.mktemp("extract")
    random = np.random.default_rng(0)
    rows = []
    for number in range(COUNT):
        noise = random.integers(256, size=(6, 7, 3), dtype=np.uint8)
        cv2.imwrite(str(folder / f"{number}.png"), cv2.resize(noise, (80 + number, 90 - number)))
        rows.append({"image_id": f"image{number}", "source": "images", "file": f"{number}.png", "split": "train"})
    (folder / f"{BROKEN}.png").write_bytes(b"not an image")
    table = pd.DataFrame(rows).assign(width=80, height=90, sha256="", captions=5, family="f", status="ok")
    table.loc[BROKEN, "status"] = "not a readable image"
    schema.write(table, IMAGES, folder / "images.parquet")
    torch.manual_seed(0)
    torch.save(torchvision.models.get_model("squeezenet1_0", weights=None).state_dict(), folder / "weights.pth")
    return folder


def features(folder, out, view="whole", shards=1, chosen=None, **changes):
    paths = [out / f"{shard}.parquet" for shard in shard_names(shards)]
    for path in paths:
        sources = {"images": str(folder)}
        network = NetworkFiles("squeezenet1_0", SETTINGS | changes, folder / "weights.pth", chosen)
        write_features(folder / "images.parquet", sources, network, view, path.stem, path)
    return FeatureStore(paths, IMAGE_FEATURES)


def pixels(folder, number):
    return cv2.imread(str(folder / f"{number}.png"))[:, :, ::-1]


def test_features_are_those_of_the_image_in_table_order_without_unreadable_ones(folder, tmp_path):
    store = features(folder, tmp_path)
    readable = [number for number in range(COUNT) if number != BROKEN]
    assert list(store.rows["image_id"]) == [f"image{number}" for number in readable]
    assert (store.shape, store.dtype) == ((512,), np.float16)
    network = load_network(SETTINGS, folder / "weights.pth")
    batch = np.concatenate([load_extraction("whole").crops(pixels(folder, number), 72, 64) for number in readable])
    expected = network.features(torch.from_numpy(batch.copy()).permute(0, 3, 1, 2), "pooled").numpy()
    np.testing.assert_allclose(store.gather(range(len(store))), expected, rtol=2e-3, atol=1e-3)
    assert np.ptp(expected, axis=0).max() > 0.01, "the images' features differ, so an order is seen"


def test_vectors_are_stored_without_rounding_if_the_entry_says_so(folder, tmp_path):
    stored, rounded = (features(folder, tmp_path / dtype, dtype=dtype) for dtype in ("float32", "float16"))
    assert (stored.dtype, rounded.dtype) == (np.float32, np.float16)
    exact = stored.gather(range(len(stored)))
    assert (exact != exact.astype(np.float16)).mean() > 0.5
    assert np.array_equal(exact.astype(np.float16), rounded.gather(range(len(rounded))))


@pytest.mark.slow
@pytest.mark.parametrize("view", ["whole", "centre", "ten_crop", "grid"])
@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=pytest.mark.long)])
def test_no_bit_depends_on_the_number_of_shards(folder, tmp_path, view, precision):
    one = features(folder, tmp_path / "one", view, 1, precision=precision, batch_size=20)
    three = features(folder, tmp_path / "three", view, 3, precision=precision, batch_size=20)
    assert list(one.rows["image_id"]) == list(three.rows["image_id"])
    assert np.array_equal(one.gather(range(len(one))), three.gather(range(len(three))))


@pytest.mark.slow
def test_the_size_of_a_batch_is_of_no_account(folder, tmp_path):
    one, seven = (features(folder, tmp_path / str(size), batch_size=size).gather(range(COUNT - 1)) for size in (1, 7))
    np.testing.assert_allclose(one, seven, rtol=2e-3, atol=1e-3)


def test_all_shards_follow_the_precision_that_was_chosen_once(folder, tmp_path, monkeypatch):
    path = tmp_path / "precision.parquet"
    monkeypatch.setattr("densevse.vision.extract.fastest_precision", lambda: "bf16")
    write_precision(path, torch.get_num_threads())
    monkeypatch.setattr("densevse.vision.extract.fastest_precision", lambda: "fp32")
    auto = features(folder, tmp_path / "auto", chosen=path, precision="auto")
    bf16 = features(folder, tmp_path / "bf16", precision="bf16")
    assert np.array_equal(auto.gather(range(len(auto))), bf16.gather(range(len(bf16))))
    assert auto.statement.found["precision"] == "bf16"
    with pytest.raises(InputError, match=r"networks\.squeezenet1_0: `precision: auto` needs the file"):
        features(folder, tmp_path, precision="auto")


@pytest.mark.slow
def test_shards_of_the_old_division_stay_until_the_new_one_is_complete(folder, tmp_path):
    features(folder, tmp_path)
    network = NetworkFiles("squeezenet1_0", SETTINGS, folder / "weights.pth")
    for shard, left in (("00-of-02", 2), ("01-of-02", 2)):
        path = tmp_path / f"{shard}.parquet"
        write_features(folder / "images.parquet", {"images": str(folder)}, network, "whole", shard, path)
        assert len(list(tmp_path.iterdir())) == left
    assert not (tmp_path / "00-of-01.parquet").exists()


def test_ten_crops_are_averaged(folder, tmp_path):
    store = features(folder, tmp_path, "ten_crop", batch_size=20)
    network = load_network(SETTINGS, folder / "weights.pth")
    ten = torch.from_numpy(load_extraction("ten_crop").crops(pixels(folder, 2), 72, 64).copy()).permute(0, 3, 1, 2)
    each = network.features(ten, "pooled")
    np.testing.assert_allclose(store.gather([2])[0], each.mean(0), rtol=2e-3, atol=1e-3)
    assert each.std(0).max() > 0.01, "the crops differ, so their mean is seen"


def test_a_grid_is_cells_by_channels_and_its_mean_is_the_whole(folder, tmp_path):
    grid = features(folder, tmp_path / "grid", "grid")
    whole = features(folder, tmp_path / "whole", "whole")
    assert grid.shape == (9, 512)
    np.testing.assert_allclose(
        grid.gather(range(10)).astype(np.float32).mean(1), whole.gather(range(10)), rtol=5e-3, atol=2e-3
    )


def test_features_state_their_network_and_its_weights(folder, tmp_path):
    with making(Statement(given={"network": SETTINGS}, wildcards={"network": "squeezenet1_0", "view": "whole"})):
        found = network_settings(features(folder, tmp_path).statement)
    assert (found["network"], found["precision"], found["view"]) == ("squeezenet1_0", "fp32", "whole")
    assert found["weights_sha256"] == checksum(folder / "weights.pth")


def test_same_features_same_bytes_and_shards_of_another_division_go(folder, tmp_path):
    features(folder, tmp_path / "a")
    features(folder, tmp_path / "b", shards=2)
    features(folder, tmp_path / "b")
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["00-of-01.parquet"]
    assert (tmp_path / "a/00-of-01.parquet").read_bytes() == (tmp_path / "b/00-of-01.parquet").read_bytes()


@pytest.mark.slow
def test_a_shard_without_images_is_empty_and_has_the_shape(folder, tmp_path):
    store = features(folder, tmp_path, shards=COUNT)
    assert len(store) == COUNT - 1
    empty = FeatureStore([tmp_path / f"{shard_names(COUNT)[BROKEN]}.parquet"], IMAGE_FEATURES)
    assert (len(empty), empty.shape) == (0, (512,))


def test_an_image_that_cannot_be_read_although_the_table_says_so_is_named(folder, tmp_path):
    table = schema.read(folder / "images.parquet", IMAGES).assign(status="ok")
    schema.write(table, IMAGES, tmp_path / "images.parquet")
    out = tmp_path / "00-of-01.parquet"
    with pytest.raises(InputError, match=rf"images: {BROKEN}\.png: not "):
        write_features(
            tmp_path / "images.parquet",
            {"images": str(folder)},
            NetworkFiles("squeezenet1_0", SETTINGS, folder / "weights.pth"),
            "whole",
            out.stem,
            out,
        )
    assert not out.exists()


def test_a_view_that_the_network_has_no_layer_for_is_named(folder, tmp_path):
    with pytest.raises(InputError, match=r"no layer for the view 'grid'; name one in the network's layers\.grid"):
        features(folder, tmp_path, "grid", layers={"whole": "pooled"})
