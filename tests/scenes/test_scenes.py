import json
import zipfile

import cv2
import numpy as np
import pytest

from densevse.scenes import reader as scenes
from densevse.scenes.pictures import draw
from densevse.scenes.world import Layout, Scene, Thing
from snakeproof.errors import InputError

OPTIONS = {"seed": 3, "images": {"train": 60, "val": 20, "test": 40}, "size": 64}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenes") / "scenes.zip"
    scenes.generate(OPTIONS, str(path))
    return path


@pytest.fixture(scope="module")
def lines(made):
    with zipfile.ZipFile(made) as file:
        return [json.loads(line) for line in file.read(scenes.SCENES_FILE).splitlines()]


def test_the_same_options_give_the_same_bytes_with_however_many_processes(made, tmp_path):
    scenes.generate(OPTIONS, str(tmp_path / "again.zip"), threads=2)
    scenes.generate({**OPTIONS, "seed": 4}, str(tmp_path / "other.zip"))
    assert (tmp_path / "again.zip").read_bytes() == made.read_bytes()
    assert (tmp_path / "other.zip").read_bytes() != made.read_bytes()


def test_the_reader_gives_every_picture_with_five_captions(made):
    images, captions = scenes.read(OPTIONS, {"scenes": str(made)})
    assert images["split"].value_counts().to_dict() == OPTIONS["images"]
    assert (captions["image_id"].value_counts() == 5).all()
    assert set(captions["image_id"]) == set(images["image_id"])
    with zipfile.ZipFile(made) as file:
        picture = cv2.imdecode(np.frombuffer(file.read(images["file"][0]), np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape == (64, 64, 3)


def test_a_family_is_a_scene_and_its_swaps(made):
    """Their words are the same, so a measure that takes pictures for independent ones would be too sure."""
    images, _ = scenes.read(OPTIONS, {"scenes": str(made)})
    families = images.groupby("family", sort=False)
    assert (families["split"].nunique() == 1).all()
    assert set(families.size()) <= {1, 2, 3, 4}
    assert (families.size() == 4).sum() > 10
    with zipfile.ZipFile(made) as file:
        lines = [json.loads(line) for line in file.read(scenes.SCENES_FILE).splitlines()]
    colours = [sorted(thing["colour"] for thing in line["scene"]["things"]) for line in lines]
    assert (images.assign(colours=list(map(str, colours))).groupby("family")["colours"].nunique() == 1).all()


def test_no_scene_is_in_two_splits_or_there_twice(lines):
    seen = [json.dumps(line["scene"], sort_keys=True) for line in lines]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_split_has_scenes_that_differ_only_by_a_swap(lines, split):
    """Both orders of the same two things, and the same two shapes with each other's colours."""
    pairs = [line["scene"] for line in lines if line["split"] == split and len(line["scene"]["things"]) == 2]
    in_order = [(scene["layout"], *(json.dumps(thing) for thing in scene["things"])) for scene in pairs]
    assert any((layout, two, one) in in_order for layout, one, two in in_order)
    looks = [[(thing["shape"], thing["colour"]) for thing in scene["things"]] for scene in pairs]
    assert any([(a, d), (c, b)] in looks for (a, b), (c, d) in looks)


def test_the_same_words_in_another_order_describe_another_picture(lines):
    bags: dict[tuple[str, ...], set[str]] = {}
    for line in lines:
        for caption in line["captions"]:
            words = caption["text"].lower().strip(".").replace(",", "").split()
            bags.setdefault(tuple(sorted(words)), set()).add(" ".join(words))
    assert any(len(sentences) > 1 for sentences in bags.values())


def test_every_box_is_inside_its_picture(made):
    boxes = scenes.read_boxes({"scenes": str(made)})
    assert (boxes[["x", "y"]] >= 0).all(axis=None)
    assert (boxes[["width", "height"]] >= 5).all(axis=None)
    assert (boxes["x"] + boxes["width"] <= 64).all()
    assert (boxes["y"] + boxes["height"] <= 64).all()


def test_a_box_is_where_the_colour_is():
    red = Thing(shape="ball", colour="red", size="large")
    blue = Thing(shape="box", colour="blue", size="large")
    pixels, boxes = draw(Scene((red, blue), Layout.LEFT_OF), 96, np.random.default_rng(5))
    pixels = pixels.astype(int)
    for channel, others, ((x, y, width, height),) in ((0, (1, 2), boxes[0]), (2, (0, 1), boxes[1])):
        coloured = pixels[..., channel] > 90 + pixels[..., others].max(axis=2)
        down, across = np.nonzero(coloured)
        found = (across.min(), down.min(), across.max() + 1, down.max() + 1)
        assert np.allclose(found, (x, y, x + width, y + height), atol=2.5)
    assert boxes[0][0][0] < boxes[1][0][0]


def test_a_phrase_has_the_box_around_what_it_names(lines):
    checked = 0
    for line in lines:
        things = [box for thing in line["things"] for box in thing["boxes"]]
        for caption in line["captions"]:
            for phrase in caption["phrases"]:
                x, y, width, height = phrase["boxes"][0]
                inside = [box for box in things if box[0] >= x - 1e-6 and box[0] + box[2] <= x + width + 1e-6]
                inside = [box for box in inside if box[1] >= y - 1e-6 and box[1] + box[3] <= y + height + 1e-6]
                assert min(box[0] for box in inside) == pytest.approx(x)
                assert max(box[1] + box[3] for box in inside) == pytest.approx(y + height)
                words = phrase["phrase"].lower().split()
                if len(phrase["boxes"]) > 1:  # of several equal things, each one too
                    assert not {"a", "an", "one"} & set(words) or {"pair", "couple"} & set(words)
                    assert len(phrase["boxes"]) == 1 + len(inside)
                    checked += 1
    assert checked > 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sise": 96}, "sise"),
        ({"images": {"train": 1}}, "options.images"),
        ({"images": {"train": 5, "val": 0, "test": 5}}, "options.images"),
        ({"size": 8}, "options.size"),
        ({"size": "large"}, "options.size"),
        ({"images": {"train": 5, "val": "5", "test": 5}}, "options.images"),
        ({"seed": None}, "options.seed"),
    ],
)
def test_options_that_are_of_no_use_are_named(change, message, tmp_path):
    with pytest.raises(InputError, match=message):
        scenes.generate({**OPTIONS, **change}, str(tmp_path / "scenes.zip"))
    assert not list(tmp_path.iterdir())
