"""Official boxes and masks, compared with the pixels of their images."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from densevse.artifacts.images import decode
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.artifacts.schemas.proposals import MASKS, runs_to_mask
from densevse.datasets.readers import write_dataset
from densevse.datasets.true_boxes import write_boxes, write_masks
from snakeproof import schema
from snakeproof.errors import InputError

BOX = [4, 3, 9, 5]
"""x, y, width and height of the red area in the stored pixels."""
SIZE = {"width": 30, "height": 20}
SPLITS = {"splits": {"train": 1, "val": 1, "test": 1}}


def photograph(orientation: int, form: str = "PNG") -> bytes:
    pixels = np.zeros((SIZE["height"], SIZE["width"], 3), np.uint8)
    pixels[BOX[1] : BOX[1] + BOX[3], BOX[0] : BOX[0] + BOX[2], 0] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, form, exif=exif)
    return file.getvalue()


@pytest.fixture
def coco(tmp_path):
    """A function that writes a MS-COCO of three images, reads its tables, and gives settings, paths and image table."""

    def make(orientation=1, size=SIZE, box=BOX, unreadable=(), form="PNG", sized=True, all_of_them=False):
        (tmp_path / "images").mkdir()
        for number in (1, 2, 3):
            data = photograph(orientation, form)
            (tmp_path / f"images/{number}.png").write_bytes(b"no image" if str(number) in unreadable else data)
        images = [{"id": number, "file_name": f"{number}.png", **size} for number in (1, 2, 3)]
        x, y, width, height = box
        outline = [x, y, x + width, y, x + width, y + height, x, y + height]
        objects = [
            {
                "id": n,
                "image_id": n,
                "category_id": 1,
                "bbox": box if n == 1 or all_of_them else BOX,
                "segmentation": [outline],
            }
            for n in (1, 2, 3)
        ]
        instances = {"annotations": objects, "categories": [{"id": 1, "name": "thing"}]}
        instances |= {"images": images} if sized else {}
        captions = [{"id": number, "image_id": number, "caption": "A thing ."} for number in (1, 2, 3)]
        (tmp_path / "annotations").mkdir()
        (tmp_path / "annotations/instances_x.json").write_text(json.dumps(instances))
        (tmp_path / "annotations/captions_x.json").write_text(json.dumps({"images": images, "annotations": captions}))
        settings = {"reader": "coco", "options": SPLITS, "known_unreadable": list(unreadable)}
        paths = {"images": str(tmp_path / "images"), "annotations": str(tmp_path / "annotations")}
        table = str(tmp_path / "images.parquet")
        write_dataset(settings, paths, table, str(tmp_path / "captions.parquet"), 1)
        return settings, paths, table, str(tmp_path / "output.parquet")

    return make


def red(orientation, form):
    """x, y, width and height of the red area in the upright pixels, and their size."""
    pixels = decode(photograph(orientation, form), "a")
    rows, columns = np.nonzero(pixels[..., 0] > 128)
    box = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
    return box, pixels.shape[:2]


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_are_turned_with_their_image(coco, orientation, form):
    arguments = coco(orientation, form=form)
    write_boxes(*arguments)
    boxes = schema.read(arguments[-1], BOXES)
    expected, _ = red(orientation, form)
    assert boxes[["x", "y", "width", "height"]].to_numpy().tolist() == [expected] * 3


def test_boxes_of_an_image_whose_name_is_encoded_otherwise_are_kept(coco):
    """A Mac writes the accents of names apart from their letters; the image table composes them."""
    *arguments, table, output = coco()
    images = schema.read(table, IMAGES).replace({"image_id": {"1": "caf\u00e9"}})
    schema.write(images, IMAGES, table)
    file = Path(table).with_name("annotations") / "instances_x.json"
    instances = json.loads(file.read_text())
    instances["annotations"][0]["image_id"] = "cafe\u0301"
    instances["images"][0]["id"] = "cafe\u0301"
    file.write_text(json.dumps(instances))
    write_boxes(*arguments, table, output)
    assert set(schema.read(output, BOXES)["image_id"]) == {"caf\u00e9", "2", "3"}


@pytest.mark.parametrize("write", [write_boxes, write_masks])
def test_boxes_without_their_source_are_refused(coco, write):
    settings, sources, table, output = coco()
    with pytest.raises(InputError, match=r"source annotations, .* local\.annotations"):
        write(settings, {"images": sources["images"]}, table, output)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_masks_are_turned_with_their_image(coco, orientation):
    arguments = coco(orientation)
    write_masks(*arguments)
    masks = schema.read(arguments[-1], MASKS)
    (x, y, width, height), size = red(orientation, "PNG")
    for of in masks.itertuples():
        rows, columns = np.nonzero(runs_to_mask(of.runs, of.height, of.width))
        assert (of.height, of.width) == size
        assert [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1] == [x, y, width, height]


def test_boxes_that_count_the_turned_image_s_pixels_stay(coco):
    expected, (height, width) = red(6, "PNG")
    arguments = coco(6, {"width": width, "height": height}, [int(part) for part in expected])
    images = schema.read(arguments[2], IMAGES)
    assert images[["width", "height"]].to_numpy().tolist() == [[width, height]] * 3
    write_boxes(*arguments)
    boxes = schema.read(arguments[-1], BOXES).set_index("image_id")
    assert boxes.loc["1", ["x", "y", "width", "height"]].tolist() == expected


def test_boxes_of_a_file_that_states_no_sizes_are_those_of_stored_pixels(coco):
    arguments = coco(8, sized=False)
    write_boxes(*arguments)
    boxes = schema.read(arguments[-1], BOXES)
    assert boxes[["x", "y", "width", "height"]].to_numpy().tolist() == [red(8, "PNG")[0]] * 3


@pytest.mark.parametrize("write", [write_boxes, write_masks])
def test_photographs_of_another_size_than_the_stated_one_are_refused(coco, write):
    arguments = coco(size={"width": 60, "height": 40})
    with pytest.raises(
        InputError, match=r"annotations: says that image \d has 60 x 40 pixels, but it has 30 x 20 \(3 "
    ):
        write(*arguments)


@pytest.mark.parametrize("box", [[28, 3, 9, 5], [4, 20, 9, 5], [-2, 3, 9, 5]])
def test_a_box_that_leaves_its_image_is_refused(coco, box):
    arguments = coco(box=box)
    with pytest.raises(
        InputError, match=r"instances_\w+\.json: annotation \d+ .*'image_id': '1'.*leaves the image; 1 such rows"
    ):
        write_boxes(*arguments)


@pytest.mark.parametrize(
    ("box", "problem"),
    [
        ([0.1, 0.2, 0.5, 0.4], "all numbers of the boxes lie between 0 and 1, as shares of the image's sides do"),
        ([20, 12, 28, 18], r"only 0 of 3 boxes lie in their images, and 3 do as corners \(x0, y0, x1, y1\)"),
        ([24, 10, 10, 18], r"only 0 of 3 boxes lie in their images, and 3 do as centres"),
    ],
)
def test_true_boxes_in_another_form_are_refused(coco, box, problem):
    with pytest.raises(InputError, match=rf"instances_x\.json: annotation \d .*{problem}.*; 3 such rows"):
        write_boxes(*coco(box=box, all_of_them=True))


def test_a_box_without_area_is_left_out(coco, caplog):
    arguments = coco(box=[4, 3, 0, 5])
    with caplog.at_level("INFO"):
        write_boxes(*arguments)
    assert sorted(schema.read(arguments[-1], BOXES)["image_id"]) == ["2", "3"]
    assert "and 1 boxes without area left out" in caplog.text


@pytest.mark.parametrize("write", [write_boxes, write_masks])
def test_a_box_of_negative_sides_is_refused(coco, write):
    with pytest.raises(InputError, match=r"annotation \d.*(has no area|both are in pixels)"):
        write(*coco(box=[24, 13, -4, -3]))


@pytest.mark.parametrize(
    "runs", [{"size": 6}, {"counts": ["5", 3]}, {"counts": [2.5, 597.5]}, {"counts": [True] * 600}]
)
def test_run_lengths_of_another_kind_are_refused(coco, runs):
    arguments = coco()
    file = Path(arguments[2]).with_name("annotations") / "instances_x.json"
    instances = json.loads(file.read_text())
    instances["annotations"][0]["segmentation"] = {"size": [20, 30], "counts": [600], **runs}
    file.write_text(json.dumps(instances))
    with pytest.raises(InputError, match=r"annotation \d+: its run lengths do not cover its image of 30 x 20 pixels"):
        write_masks(*arguments)


@pytest.mark.parametrize("write", [write_boxes, write_masks])
def test_objects_of_an_image_that_cannot_be_read_are_no_error(coco, write):
    write(*coco(unreadable=["2"]))
