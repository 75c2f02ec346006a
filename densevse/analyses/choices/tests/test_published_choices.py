"""Made files in the published form of SugarCrepe's, ARO's and Winoground's; the real ones are not at hand."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.choices.published import read_own_choices, read_published_choices
from densevse.artifacts.images import ImageFiles
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.evaluation.choices import CHOICES, winoground_pairs
from snakeproof import schema
from snakeproof.errors import InputError

PIXELS = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)


@pytest.fixture
def pictures(tmp_path):
    """A folder of pictures, as PNG, so that their pixels are exact."""
    (tmp_path / "pictures/deeper").mkdir(parents=True)
    for name in ("000000085329.png", "2370666.png", "deeper/ex_0_img_0.png", "ex_0_img_1.png", "not asked.png"):
        Image.fromarray(PIXELS).save(tmp_path / "pictures" / name)
    return str(tmp_path / "pictures")


def read(tmp_path, layout, file, pictures):
    outputs = {name: str(tmp_path / f"{name}.parquet") for name in ("questions", "captions", "images")}
    outputs["pictures"] = str(tmp_path / "pictures.zip")
    read_published_choices([str(tmp_path / file), pictures], layout, 1, **outputs)
    asked, images = schema.read(outputs["questions"], CHOICES), schema.read(outputs["images"], IMAGES)
    texts = schema.read(outputs["captions"], CAPTIONS)["text"].tolist()
    assert texts == [text for row in asked.itertuples() for text in (row.right, *row.wrong)]
    files = ImageFiles({"pictures": outputs["pictures"]})
    pixels = {row.image_id: files.read(row.source, row.file) for row in images.itertuples()}
    return asked, images, {image: np.asarray(Image.open(io.BytesIO(data))) for image, data in pixels.items()}


def test_sugarcrepe(tmp_path, pictures):
    (tmp_path / "data").mkdir()
    one = {"filename": "000000085329.png", "caption": "A dog.", "negative_caption": "A cat."}
    for category in ("swap_att", "add_obj"):
        (tmp_path / f"data/{category}.json").write_text(json.dumps({"0": one, "7": one | {"caption": "Dogs."}}))
    asked, images, pixels = read(tmp_path, "sugarcrepe", "data", pictures)
    assert asked["question"].tolist() == ["add_obj 0", "add_obj 7", "swap_att 0", "swap_att 7"]
    assert asked["category"].tolist() == ["add_obj", "add_obj", "swap_att", "swap_att"]
    assert asked["right"].tolist() == ["A dog.", "Dogs."] * 2
    assert {*asked["image"]} == {*asked["family"]} == {*images["image_id"]} == {"000000085329.png"}
    assert images["split"].tolist() == ["test"]
    assert (pixels["000000085329.png"] == PIXELS).all()


ARO = {"image_path": "2370666.png", "true_caption": "the dog is to the left of the cat"}
ARO |= {"false_caption": "the cat is to the left of the dog", "bbox_x": 3, "bbox_y": 2, "bbox_w": 10, "bbox_h": 7}


def test_aro_crops_pictures_to_their_boxes(tmp_path, pictures):
    rows = [ARO | {"relation_name": "to the left of", "image_id": "2370666"}]
    rows += [ARO | {"relation_name": "on", "bbox_x": 0, "bbox_w": 30, "bbox_y": 0, "bbox_h": 20}]
    (tmp_path / "visual_genome_relation.json").write_text(json.dumps(rows))
    asked, images, pixels = read(tmp_path, "aro", "visual_genome_relation.json", pictures)
    assert asked["category"].tolist() == ["to the left of", "on"]
    assert asked["family"].tolist() == ["2370666.png"] * 2
    assert images[["width", "height"]].to_numpy().tolist() == [[10, 7], [30, 20]]
    assert (pixels["2370666.png#3,2,10,7"] == PIXELS[2:9, 3:13]).all()
    assert (pixels["2370666.png#0,0,30,20"] == PIXELS).all()
    rows = [ARO | {"attributes": ["brown", "white"]}]
    (tmp_path / "visual_genome_attribution.json").write_text(json.dumps(rows))
    asked, *_ = read(tmp_path, "aro", "visual_genome_attribution.json", pictures)
    assert asked["category"].tolist() == ["attribution"]


def winoground(**changes):
    one = {"id": 0, "image_0": "ex_0_img_0", "image_1": "ex_0_img_1", "collapsed_tag": "Object"}
    return json.dumps(one | {"caption_0": "an old person kisses a young one", "caption_1": "a young one"} | changes)


def test_an_example_of_winoground_is_a_pair(tmp_path, pictures):
    (tmp_path / "examples.jsonl").write_text(winoground() + "\n")
    asked, images, pixels = read(tmp_path, "winoground", "examples.jsonl", pictures)
    assert asked["image"].tolist() == ["ex_0_img_0", "ex_0_img_1"] == images["image_id"].tolist()
    assert asked["right"].tolist() == [one[0] for one in asked["wrong"]][::-1]
    assert asked["category"].tolist() == ["Object", "Object"]
    assert winoground_pairs(asked).tolist() == [[0, 1]]
    assert (pixels["ex_0_img_0"] == PIXELS).all()


@pytest.mark.parametrize(
    ("layout", "name", "content", "said"),
    [
        ("aro", "visual_genome_relation.json", [ARO | {"bbox_w": 28}], "its box is not within the picture of 30 x 20"),
        ("aro", "visual_genome_relation.json", [ARO | {"bbox_h": 0}], "its box is not within the picture"),
        ("aro", "visual_genome_relation.json", [{**ARO, "bbox_x": None}], r"relation\.json: 1 entries .*\n.*bbox_x"),
        ("aro", "visual_genome_relation.json", [], "there is no question in it"),
        ("sugarcrepe", "a.json", {"0": {"filename": "x", "caption": "a"}}, "0.negative_caption"),
        (
            "sugarcrepe",
            "a.json",
            {"0": {"filename": "x.jpg", "caption": "a", "negative_caption": "b"}},
            "'a 0' asks of the picture 'x.jpg', and there is none; add it",
        ),
        (
            "sugarcrepe",
            "a.json",
            {"0": {"filename": "2370666.png", "caption": "a", "negative_caption": "a"}},
            "is the right",
        ),
    ],
)
def test_files_of_another_form_are_refused(tmp_path, pictures, layout, name, content, said):
    (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(InputError, match=said):
        read(tmp_path, layout, name, pictures)


def test_a_picture_that_is_there_twice_is_named(tmp_path, pictures):
    Image.fromarray(PIXELS[::-1]).save(tmp_path / "pictures/deeper/2370666.png")
    (tmp_path / "visual_genome_relation.json").write_text(json.dumps([ARO]))
    with pytest.raises(InputError, match=r"there is .*2370666\.png, .*2370666\.png; keep one"):
        read(tmp_path, "aro", "visual_genome_relation.json", pictures)


def test_pictures_that_cannot_be_read_are_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "pictures.of.zip", "w") as file:
        file.writestr("ex_0_img_0.png", b"no picture")
        file.writestr("ex_0_img_1.png", b"no picture")
    (tmp_path / "examples.jsonl").write_text(winoground() + "\n")
    with pytest.raises(InputError, match=r"2 of 2 images cannot be read(?s:.*)ex_0_img_0"):
        read(tmp_path, "winoground", "examples.jsonl", str(tmp_path / "pictures.of.zip"))


def test_own_questions_are_about_readable_test_images(tmp_path):
    images = pd.DataFrame({"image_id": ["i0", "i1"], "split": ["test", "train"], "family": ["i0", "i1"]})
    images = images.assign(source="s", file="f", width=8, height=8, sha256="", captions=1, status="ok")
    schema.write(images, IMAGES, tmp_path / "images.parquet")
    rows = pd.DataFrame({"question": ["a", "b"], "image": ["i0", "i0"], "right": "x", "wrong": [["y"], ["z", "y"]]})
    rows.to_parquet(tmp_path / "own.parquet")
    outputs = [str(tmp_path / f"{name}.parquet") for name in ("questions", "captions")]
    read_own_choices(str(tmp_path / "own.parquet"), str(tmp_path / "images.parquet"), *outputs)
    assert schema.read(outputs[0], CHOICES)["wrong"].map(list).tolist() == [["y"], ["z", "y"]]
    assert schema.read(outputs[1], CAPTIONS)["caption_id"].tolist() == ["a#0", "a#1", "b#0", "b#1", "b#2"]
    rows.assign(image=["i0", "i1"]).to_parquet(tmp_path / "own.parquet")
    with pytest.raises(InputError, match=r"own\.parquet: row 1 .*its image is no readable one of the split test"):
        read_own_choices(str(tmp_path / "own.parquet"), str(tmp_path / "images.parquet"), *outputs)
