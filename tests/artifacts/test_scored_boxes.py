"""One contract of scored boxes, good, odd and bad, through every door that takes them, and at the end of all doors."""

import ast
import base64
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.vision.given_features import read_given_features
from densevse.vision.proposals import propose
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureWriter

ROOT = Path(__file__).parents[2]
COUNT, WRONG = 20, 12
"""The boxes in a file, one of an image each, and the one that is another."""
IMAGES_OF = pd.DataFrame(
    {"image_id": [f"i{n}" for n in range(COUNT)], "source": "s", "split": ["train"] * 18 + ["val", "test"]}
).assign(
    file=lambda rows: rows["image_id"] + ".jpg", width=100, height=80, sha256="", captions=1, family="f", status="ok"
)
USUAL = (10.0, 20.0, 30.0, 40.0)
GOOD = {
    "inside": USUAL,
    "the whole image": (0.0, 0.0, 100.0, 80.0),
    "a pixel": (99.0, 79.0, 1.0, 1.0),
    "over the edge": (-10.0, 0.0, 30.0, 40.0),
    "half outside": (-10.0, 0.0, 20.0, 40.0),
}
BAD = {
    "mostly outside": ((-11.0, 0.0, 20.0, 40.0), "less than half of its box's area lies in the image"),
    "outside": ((120.0, 0.0, 20.0, 40.0), "less than half of its box's area lies in the image"),
    "without width": ((10.0, 20.0, 0.0, 40.0), "less than half of its box's area lies in the image"),
    "of negative height": ((10.0, 20.0, 30.0, -5.0), "less than half of its box's area lies in the image"),
    "not a number": ((10.0, np.nan, 30.0, 40.0), "a number of its box or its score is not finite"),
    "infinite": ((10.0, 20.0, np.inf, 40.0), "a number of its box or its score is not finite"),
}


def rows_with(box):
    rows = pd.DataFrame([USUAL] * COUNT, columns=BOX)
    rows.loc[WRONG] = box
    return rows.assign(image_id=IMAGES_OF["image_id"], score=0.5)


def corners_with(box):
    boxes = rows_with(box)[BOX].to_numpy(np.float32)
    return np.hstack((boxes[:, :2], boxes[:, :2] + boxes[:, 2:]))


def read_boxes(folder, rows, kind, name):
    rows.to_csv(folder / name, index=False) if name.endswith("csv") else rows.to_parquet(folder / name)
    return propose(IMAGES_OF, slice(None), {}, {"kind": kind, "options": {"path": str(folder / name)}}, 1)


def read_features(folder, given_format, **files):
    """Given regions with these files in `folder`; whole images are their means."""
    schema.write(IMAGES_OF, IMAGES, folder / "images.parquet")
    options = {"name": "f", "network": "n", "format": given_format, "image_id": "{id}", "dtype": "float32", "copies": 1}
    out = {view: folder / view / "00-of-01.parquet" for view in ("whole", "regions")}
    paths = [str(folder / file) for file in files.values()]
    for view, whole in (("whole", None), ("regions", out["whole"])):
        of_view = {**options, "view": view, "mean": view == "whole"}
        read_given_features(
            folder / "images.parquet", of_view, [*files], paths, out[view], {"shard": "00-of-01"}, whole
        )
    return schema.read(out["regions"], REGION_FEATURES).loc[lambda rows: rows["rank"] > 0]


VECTORS = np.random.default_rng(0).normal(size=(COUNT, 1, 4)).astype(np.float32)


def by_parquet(folder, box):
    rows_with(box).assign(vector=list(VECTORS[:, 0])).to_parquet(folder / "regions.parquet")
    return read_features(folder, "parquet", path="regions.parquet")


def by_array(folder, box):
    np.save(folder / "regions.npy", VECTORS)
    np.save(folder / "boxes.npy", corners_with(box)[:, None])
    (folder / "ids.txt").write_text("\n".join(IMAGES_OF["image_id"]))
    return read_features(folder, "array", path="regions.npy", ids="ids.txt", boxes="boxes.npy")


def by_bottom_up(folder, box):
    lines = [
        "\t".join([image_id, "100", "80", "1", *(base64.b64encode(part.tobytes()).decode() for part in parts)])
        for image_id, *parts in zip(IMAGES_OF["image_id"], corners_with(box), VECTORS, strict=True)
    ]
    (folder / "regions.tsv").write_text("\n".join(lines) + "\n")
    return read_features(folder, "bottom_up", path="regions.tsv")


def by_mcg(folder, box):
    for image_id, (left, top, right, bottom) in zip(IMAGES_OF["image_id"], corners_with(box), strict=True):
        boxes = np.array([[top + 1, left + 1, bottom, right]])
        savemat(folder / f"{image_id}.mat", {"boxes": boxes, "scores": np.array([[0.5]])})
    return propose(IMAGES_OF, slice(None), {}, {"kind": "mcg_published", "options": {"folder": str(folder)}}, 1)


def as_proposals(folder, box):
    rows = rows_with(box).assign(rank=0, class_name="")
    schema.write(rows, PROPOSALS.bind(images=IMAGES_OF), folder / "proposals.parquet")
    return rows


def as_regions(folder, box):
    rows = rows_with(box).assign(rank=1, class_name="", score=np.inf)
    with FeatureWriter(folder / "f.parquet", REGION_FEATURES.bind(images=IMAGES_OF), (4,), np.float32) as writer:
        writer.append(rows, VECTORS[:, 0])
    return rows


DOORS = {
    "file.csv": lambda folder, box: read_boxes(folder, rows_with(box), "file", "b.csv"),
    "file.parquet": lambda folder, box: read_boxes(folder, rows_with(box), "file", "b.parquet"),
    "detections.csv": lambda folder, box: read_boxes(
        folder, rows_with(box).assign(class_name="a"), "detections", "b.csv"
    ),
    "mcg_published": by_mcg,
    "features.parquet": by_parquet,
    "features.npy": by_array,
    "features.tsv": by_bottom_up,
    "PROPOSALS": as_proposals,
    "REGION_FEATURES": as_regions,
}
PLACES = {"mcg_published": "i12.mat", "features.tsv": "line 13, region 1"}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", GOOD)
def test_a_good_box_passes_every_door_and_lies_in_its_image(tmp_path, door, name):
    found = DOORS[door](tmp_path, GOOD[name])
    assert len(found) == COUNT
    if door.islower():
        x, y, width, height = found[BOX].iloc[WRONG]
        left, top, across, down = GOOD[name]
        expected = (max(left, 0), max(top, 0), min(left + across, 100), min(top + down, 80))
        assert (x, y, x + width, y + height) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("door", "name"),
    # Arrow itself refuses what is not a number in a column without nulls.
    [(door, name) for door in DOORS for name in BAD if (door, name) != ("PROPOSALS", "not a number")],
)
def test_a_bad_box_is_refused_by_its_row_at_every_door(tmp_path, door, name):
    box, problem = BAD[name]
    with pytest.raises(InputError) as refused:
        DOORS[door](tmp_path, box)
    assert problem in str(refused.value)
    assert PLACES.get(door, "row 12") in str(refused.value)
    assert "i12" in str(refused.value)
    assert "1 such rows" in str(refused.value)


@pytest.mark.parametrize("door", DOORS)
def test_shares_of_the_sides_are_refused_at_every_door(tmp_path, monkeypatch, door):
    shares = pd.DataFrame([(0.1, 0.2, 0.3, 0.4)] * COUNT, columns=BOX).assign(image_id=IMAGES_OF["image_id"], score=0.5)
    monkeypatch.setitem(globals(), "rows_with", lambda box: shares)
    with pytest.raises(
        InputError, match="all numbers of the boxes lie between 0 and 1, as shares of the image's sides"
    ):
        DOORS[door](tmp_path, None)


def twice(schema_rows):
    return pd.concat([schema_rows, schema_rows.iloc[[WRONG]].assign(score=0.1)], ignore_index=True)


def test_a_class_has_a_box_once_and_two_classes_may_share_one(tmp_path):
    rows = twice(rows_with(USUAL)).assign(class_name="dog")
    with pytest.raises(InputError, match=r"b\.csv, image i12, row 20 .*its class has this box twice in the image"):
        read_boxes(tmp_path, rows, "detections", "b.csv")
    rows.loc[COUNT, "class_name"] = "cat"
    assert len(read_boxes(tmp_path, rows, "detections", "b.csv")) == COUNT + 1
    assert len(read_boxes(tmp_path, rows, "file", "b.csv")) == COUNT, "boxes without classes are distinct, as before"
    for artifact in (PROPOSALS, REGION_FEATURES):
        named = rows.assign(rank=1, class_name="dog")
        with pytest.raises(InputError, match="its class has this box twice in the image"):
            schema.check_rules(named, artifact.bind(images=IMAGES_OF), "f")
        schema.check_rules(named.assign(class_name=rows["class_name"]), artifact.bind(images=IMAGES_OF), "f")


def test_boxes_of_one_class_that_are_equal_once_they_are_clipped_are_there_once(tmp_path):
    rows = twice(rows_with((-5.0, 0.0, 25.0, 40.0))).assign(class_name="dog")
    rows.loc[COUNT, ["x", "width"]] = -4.0, 24.0
    assert len(read_boxes(tmp_path, rows, "detections", "b.csv")) == COUNT


def test_a_region_may_have_no_known_box_and_the_whole_image_has_its_own():
    rows = rows_with((0.0, 0.0, 0.0, 0.0)).assign(rank=1, class_name="a", score=np.inf)
    schema.check_rules(rows, REGION_FEATURES.bind(images=IMAGES_OF), "f")
    whole = rows.assign(rank=0, x=0, y=0, width=1, height=1)
    schema.check_rules(whole, REGION_FEATURES.bind(images=IMAGES_OF), "f")


def test_a_picture_that_is_not_there_has_the_size_that_the_file_states(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "IMAGES_OF", IMAGES_OF.assign(width=0, height=0))
    assert len(by_bottom_up(tmp_path, USUAL)) == COUNT
    with pytest.raises(InputError, match="less than half of its box's area"):
        by_bottom_up(tmp_path, BAD["outside"][0])


WRITERS = {
    "PROPOSALS": {"densevse/vision/proposals.py": True, "densevse/vision/clusters.py": False},
    "REGION_FEATURES": {
        "densevse/vision/extract_regions.py": True,
        "densevse/vision/given_features.py": True,
        "densevse/vision/extract_regions.py: true boxes": False,
    },
    "RANKED": {"densevse/vision/mcg/shards.py": True},
}


def test_nothing_else_writes_these_files():
    """A writer knows the images, but for boxes of artifacts that were checked before: clusters, and true boxes."""
    found = {name: [] for name in WRITERS}
    for path in sorted((ROOT / "densevse").rglob("*.py")):
        if "tests" in path.parts:
            continue
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = ast.unparse(call.func).split(".")[-1] if isinstance(call, ast.Call) else ""
            if named not in ("write", "FeatureWriter"):
                continue
            for name in WRITERS:
                arguments = [ast.unparse(argument) for argument in call.args]
                found[name] += [
                    (str(path.relative_to(ROOT)), ".bind(images=" in argument)
                    for argument in arguments
                    if re.match(rf"{name}\b", argument)
                ]
    for name, writers in WRITERS.items():
        assert sorted(found[name]) == sorted((place.split(":")[0], bound) for place, bound in writers.items())
