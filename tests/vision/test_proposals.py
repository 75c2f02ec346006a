import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy.io import savemat

from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.vision.proposals import propose, write_proposals
from snakeproof import schema
from snakeproof.errors import InputError


def image_table(*image_ids: str, width: int = 100, height: int = 80) -> pd.DataFrame:
    rows = [
        {"image_id": i, "source": "images", "file": f"a/{i}.png", "width": width, "height": height, "status": "ok"}
        for i in image_ids
    ]
    return pd.DataFrame(rows).assign(sha256="")


@pytest.fixture
def pictures(tmp_path):
    random = np.random.default_rng(0)
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
        for number, image_id in enumerate("abc"):
            pixels = random.integers(0, 40, (80, 100, 3), dtype=np.uint8)
            if image_id != "b":
                pixels[20 : 50 + number, 10:60] += 180
            data = io.BytesIO()
            Image.fromarray(pixels if image_id != "b" else np.zeros((8, 8, 3), np.uint8)).save(data, "PNG")
            archive.writestr(f"a/{image_id}.png", data.getvalue())
    return {"images": str(tmp_path / "images.zip")}


SEARCH = {"kind": "selective_search", "options": {"mode": "fast", "boxes": 50}}


@pytest.mark.long
def test_processes_and_division_change_nothing(pictures):
    images = image_table("a", "b", "c")
    whole = propose(images, slice(None), pictures, SEARCH, processes=1)
    parts = [propose(images, part, pictures, SEARCH, processes=2) for part in (slice(0, 1), slice(1, 3))]
    pd.testing.assert_frame_equal(pd.concat(parts).reset_index(drop=True), whole.reset_index(drop=True))
    assert whole["image_id"].unique().tolist() == ["a", "c"]  # b is smaller than the smallest box
    for _, rows in whole.groupby("image_id"):
        assert rows["rank"].tolist() == list(range(len(rows)))
        assert rows["score"].is_monotonic_decreasing
        assert len(rows) <= 50


def test_unreadable_images_have_no_proposals(pictures):
    images = image_table("a", "b", "c")
    images.loc[0, "status"] = "missing"
    assert set(propose(images, slice(None), pictures, SEARCH, 1)["image_id"]) == {"c"}


def test_an_unknown_option_is_named():
    with pytest.raises(InputError, match="hieght"):
        propose(image_table("a"), slice(None), {}, {"kind": "selective_search", "options": {"hieght": 3}}, 1)
    with pytest.raises(InputError, match="slow"):
        propose(image_table("a"), slice(None), {}, {"kind": "selective_search", "options": {"mode": "slow"}}, 1)


def from_file(tmp_path, frame, images, suffix="csv", kind="file", **options):
    path = tmp_path / f"boxes.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    return propose(images, slice(None), {}, {"kind": kind, "options": {"path": str(path), **options}}, 1)


def boxes(*rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["image_id", *BOX, "score"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_of_boxes(tmp_path, suffix):
    frame = boxes(("007", 1, 2, 30, 40, 0.5), ("007", 80, 60, 25, 25, 0.9), ("007", 0, 2, 30, 40, 0.5))
    found = from_file(tmp_path, frame, image_table("007", "none"), suffix)
    expected = [[80, 60, 20, 20], [0, 2, 30, 40], [1, 2, 30, 40]]  # clipped; equal scores by their place
    assert found[BOX].to_numpy().tolist() == expected
    assert found["image_id"].unique().tolist() == ["007"]
    shuffled = from_file(tmp_path, frame.iloc[::-1], image_table("007", "none"), suffix, boxes=2)
    assert shuffled[BOX].to_numpy().tolist() == expected[:2]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_detections_keep_their_classes(tmp_path, suffix):
    frame = boxes(("007", 1, 2, 30, 40, 0.5), ("007", 1, 2, 30, 40, 0.9)).assign(class_name=["person", "nan"])
    found = from_file(tmp_path, frame, image_table("007", "none"), suffix, kind="detections")
    assert found["class_name"].tolist() == ["nan", "person"], "a box may be of two classes; nan is a name like others"
    assert from_file(tmp_path, frame, image_table("007"), suffix)["class_name"].tolist() == [""]
    with pytest.raises(InputError, match=r"image 007, row 1 .*: a detection has no class_name; .*; 1 such rows"):
        from_file(tmp_path, frame.assign(class_name=["person", ""]), image_table("007"), suffix, kind="detections")
    with pytest.raises(InputError, match=r"expected a Parquet or CSV file with the columns .*class_name"):
        from_file(tmp_path, frame[["image_id", *BOX, "score"]], image_table("007"), suffix, kind="detections")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("image_id", [None, "", " "])
def test_a_box_of_no_image_is_named(tmp_path, suffix, image_id):
    frame = boxes(("007", 1, 2, 30, 40, 0.5), (image_id, 1, 2, 30, 40, 0.9))
    with pytest.raises(InputError, match=r", row 1 .*: a box has no image_id; .*; 1 such rows"):
        from_file(tmp_path, frame, image_table("007"), suffix)


def test_a_job_reads_the_copy_of_a_file_that_it_is_given(tmp_path):
    """The workflow copies such a file if results lie in a bucket, and the copy keeps its name."""
    rows = image_table("a", "b").assign(split="train", sha256="", captions=0, family="")
    schema.write(rows, IMAGES, tmp_path / "images.parquet")
    boxes(("a", 1, 1, 5, 5, 0.1), ("b", 1, 1, 5, 5, 0.2)).to_csv(tmp_path / "boxes.csv", index=False)
    write_proposals(
        image_table=str(tmp_path / "images.parquet"),
        sources={},
        files=[str(tmp_path / "boxes.csv")],
        proposer={"kind": "file", "options": {"path": "elsewhere/boxes.csv", "boxes": 7}},
        wildcards={"shard": "01-of-02"},
        threads=1,
        output=str(tmp_path / "01-of-02.parquet"),
    )
    assert schema.read(tmp_path / "01-of-02.parquet", PROPOSALS)["image_id"].tolist() == ["b"]


@pytest.mark.parametrize("box", [(150, 0, 5, 5), (0, 0, 0, 5), (np.nan, 0, 5, 5), (-9, -9, 5, 5)])
def test_a_box_outside_its_image_is_named(tmp_path, box):
    with pytest.raises(InputError, match=r"boxes\.csv, image a"):
        from_file(tmp_path, boxes(("a", 1, 1, 5, 5, 0.1), ("a", *box, 0.5)), image_table("a"))


def in_another_form(placed, form):
    """Boxes (n, 4) of an image of 100 x 80 pixels, from x, y, width, height in pixels."""
    begin, size = placed[:, :2], placed[:, 2:]
    return {
        "lie between 0 and 1": placed / [100, 80, 100, 80],
        "do as corners": np.hstack([begin, begin + size]),
        "do as centres": np.hstack([begin + size / 2, size]),
    }[form]


@pytest.mark.parametrize("form", ["lie between 0 and 1", "do as corners", "do as centres"])
@pytest.mark.parametrize("kind", ["file", "detections"])
def test_boxes_in_another_form_are_refused(tmp_path, form, kind):
    random = np.random.default_rng(0)
    size = random.uniform(5, 60, (40, 2))
    placed = np.hstack([random.uniform(0, 1, (40, 2)) * ([100, 80] - size), size])
    frame = boxes(*(("a", *box, 0.5) for box in placed)).assign(class_name="dog")
    changed = frame.assign(**dict(zip(BOX, in_another_form(placed, form).T, strict=True)))
    assert len(from_file(tmp_path, frame, image_table("a"), kind=kind)) == 40
    with pytest.raises(InputError, match=rf"boxes\.csv, image a, row \d+ .*{form}"):
        from_file(tmp_path, changed, image_table("a"), kind=kind)


def test_boxes_of_another_data_set_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"boxes\.csv.*COCO_1.*another data set.*'a'"):
        from_file(tmp_path, boxes(("COCO_1", 1, 1, 5, 5, 0.5)), image_table("a"))


def test_boxes_of_more_images_in_a_folder_are_read(tmp_path, caplog):
    (tmp_path / "boxes").mkdir()
    boxes(("a", 1, 1, 5, 5, 0.5), ("z", 1, 1, 5, 5, 0.5)).to_csv(tmp_path / "boxes/1.csv", index=False)
    boxes(("b", 1, 1, 5, 5, 0.5), ("z", 2, 1, 5, 5, 0.5)).to_parquet(tmp_path / "boxes/2.parquet")
    options = {"path": str(tmp_path / "boxes")}
    found = propose(image_table("a", "b"), slice(None), {}, {"kind": "file", "options": options}, 1)
    assert found["image_id"].tolist() == ["a", "b"]
    assert "2 boxes are of 1 images that the data set does not have, such as 'z'; left out" in caplog.text


def test_a_file_without_the_columns_is_refused(tmp_path):
    with pytest.raises(InputError, match="image_id"):
        from_file(tmp_path, pd.DataFrame({"image": ["a"], "x": [1]}), image_table("a"))
    with pytest.raises(InputError, match="no such file"):
        propose(image_table("a"), slice(None), {}, {"kind": "file", "options": {"path": "nowhere.csv"}}, 1)


def mcg(tmp_path, **options):
    proposer = {"kind": "mcg_published", "options": {"folder": str(tmp_path), **options}}
    return propose(image_table("a"), slice(None), {}, proposer, 1)


def test_published_boxes_of_mcg(tmp_path):
    # MATLAB counts pixels from 1; rows are top, left, bottom, right.
    corners = np.array([[1, 1, 80, 100], [11, 21, 30, 60]], np.uint16)
    savemat(tmp_path / "COCO_a.mat", {"boxes": corners, "scores": np.array([[0.25], [0.75]])})
    found = mcg(tmp_path, name="COCO_{stem}.mat")
    assert found[BOX].to_numpy().tolist() == [[20, 10, 40, 20], [0, 0, 100, 80]]
    assert found["score"].tolist() == [0.75, 0.25]


def test_two_images_of_one_mat_file_are_both_named(tmp_path):
    images = image_table("a", "b").assign(file=["cat/1.jpg", "dog/1.jpg"])
    proposer = {"kind": "mcg_published", "options": {"folder": str(tmp_path)}}
    with pytest.raises(InputError, match=r": 1\.mat has a and b; leave one of them, or rename one"):
        propose(images, slice(None), {}, proposer, 1)


def test_bad_mat_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"a\.mat: no such file"):
        mcg(tmp_path)
    savemat(tmp_path / "a.mat", {"boxes": np.ones((2, 4)), "scores": np.ones((2, 1))})
    whole = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(whole[:200])
    with pytest.raises(InputError, match=r"a\.mat: not a whole MATLAB file"):
        mcg(tmp_path)
    savemat(tmp_path / "a.mat", {"bboxes": np.ones((2, 4))})
    with pytest.raises(InputError, match=r"a\.mat: expected `boxes`"):
        mcg(tmp_path)
    savemat(tmp_path / "a.mat", {"boxes": np.ones((2, 4)), "scores": np.ones((3, 1))})
    with pytest.raises(InputError, match=r"a\.mat: expected `boxes`"):
        mcg(tmp_path)
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / "a.mat").write_bytes(header.ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(InputError, match="save -v7"):
        mcg(tmp_path)
