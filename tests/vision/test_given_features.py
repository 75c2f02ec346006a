"""Features that were computed elsewhere, read into artifacts; mistakes in a file are named by row or id."""

import base64
import pickle
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.vision import given_files
from densevse.vision.given_features import read_given_features
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore

IDS = [f"i{number}" for number in range(6)]
REGIONS, LENGTH = 3, 8
RANDOM = np.random.default_rng(0)
VECTORS = RANDOM.normal(size=(6, REGIONS, LENGTH)).astype(np.float32)
CORNERS = np.tile(np.array([[0, 0, 10, 20], [5, 5, 30, 40], [1, 2, 3, 4]], np.float32), (6, 1, 1))


@pytest.fixture
def folder(tmp_path):
    """An image table of six images, and their features as an array with an id file in another order."""
    write_images(tmp_path, IDS)
    np.save(tmp_path / "regions.npy", VECTORS[::-1])
    np.save(tmp_path / "boxes.npy", CORNERS)
    (tmp_path / "ids.txt").write_text("\n".join(IDS[::-1]) + "\n")
    return tmp_path


def write_images(folder, ids, width=40, height=50):
    splits = ["train"] * (len(ids) - 2) + ["val", "test"]
    files = {"train": "train_ims.npy", "val": "dev_ims.npy", "test": "test_ims.npy"}
    rows = {"image_id": ids, "split": splits, "file": [files[split] for split in splits]}
    table = pd.DataFrame(rows).assign(source="precomp", sha256="", captions=5, family="f", status="ok")
    table = table.assign(width=width, height=height).astype({"width": "int32", "height": "int32", "captions": "int32"})
    schema.write(table, IMAGES, folder / "images.parquet")


def options(view="regions", **changes):
    given = {"name": f"datasets.mine.features.butd.{view}", "network": "butd", "view": view, "format": "array"}
    return {**given, "image_id": "{id}", "mean": False, "dtype": "float32", "copies": 1, **changes}


def read(folder, view="regions", files=None, shard="00-of-01", **changes):
    """The artifact of a view; whole images are the means of the regions."""
    names = {"path": "regions.npy", "ids": "ids.txt"} if files is None else files
    files, out = ([*names], [str(folder / file) for file in names.values()]), folder / view / f"{shard}.parquet"
    table, wildcards = folder / "images.parquet", {"shard": shard}
    whole = None
    if view == "regions":
        whole = folder / "whole" / f"{shard}.parquet"
        read_given_features(table, options("whole", mean=True, **changes), *files, whole, wildcards)
    read_given_features(table, options(view, **changes), *files, out, wildcards, whole)
    return FeatureStore([out], REGION_FEATURES if view == "regions" else IMAGE_FEATURES)


def check_regions(store):
    """Each image has its mean, then its own regions, in the order of the image table."""
    assert list(store.rows["image_id"].unique()) == IDS
    found = store.gather(np.arange(len(store))).reshape(6, 1 + REGIONS, LENGTH)
    np.testing.assert_array_equal(found[:, 1:], VECTORS)
    np.testing.assert_allclose(found[:, 0], VECTORS.mean(axis=1), rtol=1e-5, atol=1e-6)
    assert list(store.rows["rank"]) == [0, 1, 2, 3] * 6
    assert np.isinf(store.rows["score"]).all()


def test_an_array_is_joined_by_its_id_file(folder):
    store = read(folder)
    check_regions(store)
    assert store.statement.found == {"files": {"path": "regions.npy", "ids": "ids.txt"}}
    assert store.rows["width"].tolist() == [40, 0, 0, 0] * 6
    boxed = read(folder, files={"path": "regions.npy", "ids": "ids.txt", "boxes": "boxes.npy"})
    first = boxed.rows[["x", "y", "width", "height"]].iloc[:3].to_numpy()
    np.testing.assert_array_equal(first, [[0, 0, 40, 50], [0, 0, 10, 20], [5, 5, 25, 35]])


def test_shards_divide_and_change_nothing(folder):
    parts = [read(folder, shard=f"0{number}-of-02").gather(range(12)) for number in (0, 1)]
    np.testing.assert_array_equal(np.concatenate(parts), read(folder).gather(range(24)))


@pytest.mark.parametrize(("view", "shape"), [("whole", (LENGTH,)), ("grid", (REGIONS, LENGTH))])
def test_whole_images_and_grids(folder, view, shape):
    values = VECTORS[:, 0] if view == "whole" else VECTORS
    np.save(folder / "regions.npy", values[::-1])
    store = read(folder, view, dtype="float16")
    assert store.shape == shape
    np.testing.assert_array_equal(store.gather(range(6)), values.astype(np.float16))


def scan(folder, copies):
    for name, of in (("train", VECTORS[:4]), ("dev", VECTORS[4:5]), ("test", VECTORS[5:])):
        np.save(folder / f"{name}_ims.npy", np.repeat(of, copies, axis=0))


@pytest.mark.parametrize("copies", [1, 5])
def test_a_folder_of_scan_has_an_image_once_or_five_times(folder, copies):
    scan(folder, copies)
    check_regions(read(folder, files={"path": ""}, format="scan", copies=copies))
    with pytest.raises(InputError, match=r"train_ims.npy: expected .* images, found the shape .*copies"):
        read(folder, files={"path": ""}, format="scan", copies=6 - copies)


def test_copies_must_be_copies(folder):
    scan(folder, 5)
    values = np.load(folder / "train_ims.npy")
    values[7] += 1
    np.save(folder / "train_ims.npy", values)
    with pytest.raises(InputError, match=r"train_ims\.npy: rows 5 and 7 must be copies of one image"):
        read(folder, files={"path": ""}, format="scan", copies=5)


def table(ids=IDS, vectors=VECTORS):
    corners = CORNERS.reshape(-1, 4)
    frame = pd.DataFrame({"image_id": np.repeat(ids, REGIONS), "vector": list(vectors.reshape(-1, LENGTH))})
    return frame.assign(x=corners[:, 0], y=corners[:, 1], width=corners[:, 2] - corners[:, 0], height=10.0)


def test_parquet_has_a_row_for_each_region(folder):
    table().to_parquet(folder / "regions.parquet")
    check_regions(read(folder, files={"path": "regions.parquet"}, format="parquet"))
    table().assign(score=0.5, class_name="dog").to_parquet(folder / "regions.parquet")
    store = read(folder, files={"path": "regions.parquet"}, format="parquet")
    assert store.rows["class_name"].iloc[:2].tolist() == ["", "dog"]
    assert store.rows["score"].iloc[1] == 0.5


def test_a_region_of_parquet_may_lack_a_score_and_a_class(folder):
    some = table().assign(score=[None, *[0.5] * 17], class_name=[None, *[7] * 17])
    some.to_parquet(folder / "regions.parquet")
    store = read(folder, files={"path": "regions.parquet"}, format="parquet")
    assert store.rows["score"].iloc[1:3].tolist() == [np.inf, 0.5]
    assert store.rows["class_name"].iloc[1] == ""


def test_a_file_that_cannot_be_opened_is_named(folder):
    with pytest.raises(InputError, match=r"nowhere.tsv: cannot be read"):
        read(folder, files={"path": "nowhere.tsv"}, format="bottom_up")


def test_damaged_pages_of_boxes_are_named(tmp_path):
    path = tmp_path / "regions.parquet"
    pq.write_table(pa.table({name: np.arange(100.0) for name in ("x", "y")}), path)
    start = pq.read_metadata(path).row_group(0).column(1).dictionary_page_offset
    damaged = bytearray(path.read_bytes())
    damaged[start : start + 40] = bytes(40)
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=rf"^{path}: not a whole parquet file"):
        given_files._read_region_columns(path, ["x", "y"])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (table().drop(columns="image_id"), "no column image_id"),
        (table().drop(columns="height"), "no column height"),
        (
            pd.concat([table(), table().iloc[:1]]),
            "'i0' occurs twice, at .*row 0 and at .*row 18; the rows .* follow each other: sort the file by image_id",
        ),
        (table().assign(image_id=[*table()["image_id"][:-1], None]), "regions.parquet, row 17: image_id is empty"),
        (table().assign(score="high"), "regions.parquet: the column score holds .*; write it as numbers"),
        (table().assign(x="left"), "regions.parquet: the column x holds .*; write it as numbers"),
        (
            table().assign(width=[None, *[9.0] * 17]),
            r"regions.parquet, row 0 \(image 'i0'\) .*a number of its box or its score is not finite",
        ),
        (table().iloc[3:], "1 images of the data set are missing, the first is 'i0'"),
    ],
)
def test_parquet_that_is_wrong(folder, frame, message):
    frame.to_parquet(folder / "regions.parquet")
    with pytest.raises(InputError, match=message):
        read(folder, files={"path": "regions.parquet"}, format="parquet")


def arrays(folder, **changes):
    """The regions of a folder with an array for each image; some are changed, and None leaves one out."""
    (folder / "arrays").mkdir(exist_ok=True)
    for number, vectors in ({str(n): VECTORS[n] for n in range(6)} | changes).items():
        if vectors is not None:
            np.save(folder / f"arrays/{number}.npy", vectors)
    return read(folder, files={"path": "arrays"}, format="folder", image_id="i{id}")


def test_a_folder_with_an_array_for_each_image(folder):
    (folder / "arrays").mkdir()
    (folder / "arrays/README.txt").write_text("not one of them")
    check_regions(arrays(folder))


def test_files_of_a_mac_are_named_with_accents_apart(folder):
    write_images(folder, [f"caf\u00e9{number}" for number in range(6)])
    (folder / "arrays").mkdir()
    for number in range(6):
        np.save(folder / f"arrays/cafe\u0301{number}.npy", VECTORS[number])
    assert len(read(folder, files={"path": "arrays"}, format="folder")) == 6 * (1 + REGIONS)


def test_a_folder_of_arrays_has_other_numbers_of_regions(folder):
    store = arrays(folder, **{"5": np.ones((10, LENGTH), np.float32)})
    assert store.rows["image_id"].value_counts().to_dict() == dict.fromkeys(IDS[:5], 4) | {"i5": 11}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"5": None, "77": VECTORS[0]}, "the first is 'i5', and 1 ids are not of the data set, the first is 'i77'"),
        ({"5": VECTORS[0, :, :6]}, r"'i5' has vectors of the shape \(6,\)"),
        ({"5": VECTORS[0, 0]}, r"arrays/5\.npy: expected an array of 2 dimensions, found the shape \(8,\)"),
        ({"5": VECTORS[0] * np.nan}, r"arrays/5\.npy \(image 'i5'\): a number is not finite"),
        ({"5": np.array([{}])}, r"arrays/5\.npy: expected floats, found Python objects"),
    ],
)
def test_a_folder_of_arrays_that_is_wrong(folder, wrong, message):
    with pytest.raises(InputError, match=message):
        arrays(folder, **wrong)


def test_a_folder_without_arrays_is_named(folder):
    (folder / "empty").mkdir()
    for path in ("empty", "regions.npy"):
        with pytest.raises(InputError, match=f"{path}: no folder with files .npy in it"):
            read(folder, files={"path": path}, format="folder")


def line(image_id="0", size=(40, 50), count=REGIONS, boxes=CORNERS[0], vectors=VECTORS[0]):
    arrays = [base64.b64encode(np.ascontiguousarray(values).tobytes()).decode() for values in (boxes, vectors)]
    return "\t".join([image_id, *map(str, (*size, count)), *arrays])


def bottom_up(folder, lines):
    (folder / "butd.tsv").write_text("\n".join(lines) + "\n")
    return read(folder, files={"path": "butd.tsv"}, format="bottom_up", image_id="i{id}")


def test_bottom_up_attention(folder):
    lines = [line(str(number), vectors=VECTORS[number]) for number in (3, 1, 2, 0, 5, 4)]
    store = bottom_up(folder, lines)
    check_regions(store)
    np.testing.assert_array_equal(store.rows[["x", "y", "width", "height"]].iloc[2], [5, 5, 25, 35])


def test_bottom_up_attention_has_other_numbers_of_boxes(folder):
    some = np.ones((10, LENGTH), np.float32), np.tile(CORNERS[0, :1], (10, 1))
    lines = [line(str(number)) for number in range(5)] + [line("5", count=10, vectors=some[0], boxes=some[1])]
    store = bottom_up(folder, lines)
    assert store.rows["image_id"].value_counts().to_dict() == dict.fromkeys(IDS[:5], 4) | {"i5": 11}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (line("5")[:60], "line 6: expected the 6 fields .*truncated"),
        (line("5")[:-3], "line 6: .*truncated"),
        (line("5", count=4), "line 6: num_boxes is 4"),
        (line("5", count="many"), "line 6: invalid literal"),
        (line("4"), "'i4' occurs twice, at .*line 5 and at .*line 6"),
        (line("77"), "the first is 'i5', and 1 ids are not of the data set, the first is 'i77'"),
        (line("5", size=(50, 40)), "'i5' has 50 x 40 pixels, and the picture has 40 x 50, .* width before the height"),
        (
            line("5", boxes=CORNERS[0] / 50),
            "line 6, region 1 of image 'i5' .*all numbers of the boxes lie between 0 and 1",
        ),
        (
            line("5", boxes=CORNERS[0].astype(np.float64)),
            "line 6: the boxes are float64, and perhaps the features; write",
        ),
        (line("5").replace("\t", "\tx\t", 4), "line 6: expected the 6 fields .*, found 10; LXMERT's files have img_id"),
        (line("5")[:-9] + "'", "line 6: .*truncated"),
        ("\t".join([*line("5").split("\t")[:5], "b'AAAA'"]), "line 6: an array is written as Python prints bytes"),
        (
            line("5", boxes=CORNERS[0] + 60),
            "line 6, region 1 of image 'i5' .*less than half of its box's area lies in the image",
        ),
        (line("5", vectors=VECTORS[0, :, :6]), r"'i5' has vectors of the shape \(6,\)"),
    ],
)
def test_bottom_up_attention_that_is_wrong(folder, wrong, message):
    with pytest.raises(InputError, match=message):
        bottom_up(folder, [*(line(str(number)) for number in range(5)), wrong])


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_bottom_up_attention_of_another_type_is_named(folder, dtype):
    vectors = np.abs(RANDOM.normal(size=(REGIONS, 64)))
    assert bottom_up(folder, [line(str(number), vectors=vectors.astype("float32")) for number in range(6)]).shape == (
        64,
    )
    with pytest.raises(
        InputError, match=f"line 1: the features are {dtype}, which would be read as .* of float32; write"
    ):
        bottom_up(folder, [line(str(number), vectors=vectors.astype(dtype)) for number in range(6)])


def test_files_of_more_images_in_a_folder_are_read(folder, caplog):
    (folder / "butd.tsv").mkdir()
    lines = [line(str(number), vectors=VECTORS[number]) for number in (*range(6), 0)]
    lines[6] = lines[6].replace("0", "77", 1)
    (folder / "butd.tsv/a.tsv").write_text("\n".join(lines[:4]) + "\n\n")
    (folder / "butd.tsv/b.tsv").write_text("\n".join(lines[4:]))
    check_regions(read(folder, files={"path": "butd.tsv"}, format="bottom_up", image_id="i{id}"))
    assert "butd.tsv: 1 ids are not of the data set, the first is 'i77'; left out" in caplog.text


@pytest.mark.parametrize("rounded", ["float32", "float16", "integers"])
@pytest.mark.parametrize("stored", ["float32", "float16", "float64"])
def test_the_bytes_of_floats_tell_their_type(rounded, stored):
    values = np.maximum(RANDOM.normal(size=(36, 512)), 0) * 9
    values = np.round(values) if rounded == "integers" else values.astype(rounded)
    assert given_files.likely_type(values.astype(stored).tobytes()) == stored


def test_an_array_of_vectors_before_regions_is_refused(folder):
    np.save(folder / "regions.npy", np.ones((6, 2048, 36), np.float32))
    with pytest.raises(
        InputError, match=r"regions.npy: an image would have 2,048 regions of 36 numbers. .*np.swapaxes"
    ):
        read(folder)


def test_a_missing_array_of_a_folder_of_scan_is_named(folder):
    scan(folder, 1)
    (folder / "dev_ims.npy").unlink()
    with pytest.raises(InputError, match=r"dev_ims\.npy: no such file; the folder needs an array for each split"):
        read(folder, files={"path": ""}, format="scan")


def test_parquet_with_boxes_in_another_form_is_refused(folder):
    frame = table().assign(x=20, y=10, width=38, height=45)
    frame.to_parquet(folder / "regions.parquet")
    with pytest.raises(InputError, match=r"regions.parquet: .* only 0 of 18 boxes .*, and 18 do as corners"):
        read(folder, files={"path": "regions.parquet"}, format="parquet")


def changed(row, value):
    values = VECTORS[::-1].copy()
    values[row, 1, 2] = value
    return values


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (changed(2, np.nan), r"regions.npy, row 2 \(image 'i3'\): a number is not finite"),
        (changed(2, np.inf), "row 2 .* not finite"),
        (changed(1, 1e6), r"row 1 \(image 'i4'\): 1e\+06 is too large for float16; set the dtype"),
        (VECTORS * 1e-9, r"row 5 \(image 'i0'\): the largest number is .*e-09, and float16 loses digits"),
        (VECTORS[:, 0], r"expected an array of 3 dimensions, found the shape \(6, 8\)"),
        (VECTORS[:5], r"expected 6 rows, 1 for each of 6 images, found the shape \(5, 3, 8\)"),
        (VECTORS.transpose(1, 0, 2), r"found the shape \(3, 6, 8\); turn it round"),
        (VECTORS.astype(np.int64), "expected floats, found int64"),
        (VECTORS.astype(object), "Python objects, which are not loaded; convert it .*np.save"),
    ],
)
def test_arrays_that_are_wrong(folder, values, message):
    np.save(folder / "regions.npy", values)
    with pytest.raises(InputError, match=message):
        read(folder, dtype="float16")


def test_a_truncated_array_and_a_pickle(folder):
    whole = (folder / "regions.npy").read_bytes()
    (folder / "regions.npy").write_bytes(whole[:-5])
    with pytest.raises(InputError, match=r"regions.npy: not a whole npy file .* copy it again"):
        read(folder)
    (folder / "regions.npy").write_bytes(2 * whole)
    with pytest.raises(InputError, match=r"regions.npy: .*something is behind its array; several arrays belong into"):
        read(folder)
    (folder / "regions.npy").write_bytes(pickle.dumps(VECTORS))
    with pytest.raises(InputError, match=r"regions.npy: expected an array, found a pickle, which is not loaded"):
        read(folder)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([*IDS[:5], "i4"], "'i4' occurs twice, at .*row 4 and at .*row 5"),
        (
            [*IDS[:5], "i9"],
            "1 images .* missing, the first is 'i5', and 1 ids are not of the data set, the first is 'i9'",
        ),
        (IDS[:5], "expected 5 rows"),
        ([*IDS[:2], "", *IDS[3:]], "ids.txt, line 3: the line is blank"),
        ([*IDS[:5], "\udcff"], r"ids\.txt, line 6: not utf-8"),
    ],
)
def test_ids_that_are_wrong(folder, ids, message):
    (folder / "ids.txt").write_text("\n".join(ids), errors="surrogateescape")
    with pytest.raises(InputError, match=message):
        read(folder)


def test_an_id_file_may_end_with_a_blank_line(folder):
    (folder / "ids.txt").write_text("\n".join(IDS[::-1]) + "\n\n \n")
    check_regions(read(folder))


def test_a_byte_order_mark_and_spaces_are_no_part_of_an_id(folder):
    (folder / "ids.txt").write_text("\n".join(f" {name} " for name in IDS[::-1]), encoding="utf-8-sig")
    check_regions(read(folder))


def test_an_id_file_that_is_not_there_is_named(folder):
    (folder / "ids.txt").unlink()
    with pytest.raises(InputError, match=r"ids\.txt: cannot be read \(No such file"):
        read(folder)


def test_images_that_have_no_features(folder):
    np.save(folder / "regions.npy", VECTORS[:5])
    (folder / "ids.txt").write_text("\n".join(IDS[:5]))
    with pytest.raises(InputError, match="1 images of the data set are missing, the first is 'i5'"):
        read(folder)


def anonymous():
    """Bytes of anonymous memory of this process."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(text.split()[1] for text in status.splitlines() if text.startswith("RssAnon")))


def test_a_large_file_is_read_in_pieces(folder):
    """700 x 36 x 2,048 float32 (206 MB): anonymous memory grows by less than half of it."""
    ids, most, done = [f"i{number}" for number in range(700)], [0], threading.Event()
    write_images(folder, ids)
    (folder / "ids.txt").write_text("\n".join(ids))
    values = np.lib.format.open_memmap(folder / "regions.npy", "w+", np.float32, (len(ids), 36, 2048))
    values[:, :, 0] = 1 + np.arange(len(ids))[:, None]
    values.flush()
    del values
    before = anonymous()

    def watch():
        while not done.wait(0.02):
            most.append(anonymous())

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        store = read(folder, dtype="float16")
    finally:
        done.set()
        watching.join()
    assert len(store) == 700 * 37
    assert len(most) > 10
    assert max(most) - before < 100e6
