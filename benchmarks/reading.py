"""Reading a data set as large as Flickr30k with its boxes, against what its files need: parsing, decoding, digests."""

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from PIL import Image

from benchmarks._timing import times_as_fast
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.datasets.readers import read_dataset
from densevse.datasets.true_boxes import write_boxes
from snakeproof import schema


class Sizes(NamedTuple):
    """Images, sentences of each, boxes in all, and how often they are read."""

    images: int
    sentences: int
    boxes: int
    pairs: int


FULL = Sizes(31_014, 5, 500_000, pairs=3)
TOY = Sizes(30, 5, 100, pairs=1)
SIDE = 48


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio and note."""
    with tempfile.TemporaryDirectory() as folder:
        paths, table = write_files(Path(folder), sizes), str(Path(folder, "images.parquet"))
        reading = read_settings(sizes)

        def read() -> None:
            images, _ = read_dataset(reading, paths)
            schema.write(images, IMAGES, table)

        def read_true_boxes() -> None:
            write_boxes(reading, paths, table, str(Path(folder, "boxes.parquet")))

        read()
        images = 1 / times_as_fast(read, lambda: _decode(paths), sizes.pairs)
        boxes = 1 / times_as_fast(read_true_boxes, lambda: _parse_boxes(paths, folder), sizes.pairs)
    count = sizes.images * sizes.sentences
    note = f"median of {sizes.pairs} pairs, in turns"
    return [
        (f"reading {sizes.images:,} images, {count:,} sentences / decoding, digests and JSON", "<= 1.5", images, note),
        (f"reading {sizes.boxes:,} true boxes / JSON and Parquet, and looking for EXIF", "<= 3", boxes, note),
    ]


def read_settings(sizes: Sizes) -> dict[str, Any]:
    """The data set's settings."""
    held_out = sizes.images // 10
    return {
        "reader": "coco",
        "options": {"splits": {"train": sizes.images - 2 * held_out, "val": held_out, "test": held_out}},
    }


def write_files(folder: Path, sizes: Sizes) -> dict[str, str]:
    """A data set in MS-COCO's layout; returns the paths of its sources."""
    random = np.random.default_rng(0)
    buffer = io.BytesIO()
    Image.fromarray(random.integers(0, 256, (SIDE, SIDE, 3), np.uint8)).save(buffer, "JPEG")
    images = [
        {"id": number, "file_name": f"{number:012d}.jpg", "width": SIDE, "height": SIDE}
        for number in range(sizes.images)
    ]
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        for image in images:  # the bytes behind a picture's end make each file another one
            archive.writestr(f"train/{image['file_name']}", buffer.getvalue() + str(image["id"]).encode())
    captions = [
        {
            "id": number,
            "image_id": number // sizes.sentences,
            "caption": f"A man & his dog number {number} walk <far> .",
        }
        for number in range(sizes.images * sizes.sentences)
    ]
    corners = random.integers(0, SIDE // 2, (sizes.boxes, 2)) + random.random((sizes.boxes, 2)).round(2)
    sides = random.integers(2, SIDE // 2 - 1, (sizes.boxes, 2))
    instances = [
        {"id": number, "image_id": int(image), "category_id": int(kind), "iscrowd": 0, "bbox": [*first, *side]}
        for number, (image, kind, first, side) in enumerate(
            zip(
                random.integers(0, sizes.images, sizes.boxes),
                random.integers(0, 80, sizes.boxes),
                corners.tolist(),
                sides.tolist(),
                strict=True,
            )
        )
    ]
    files: dict[str, dict[str, Sequence[Any]]] = {
        "captions_all.json": {"images": images, "annotations": captions},
        "instances_all.json": {
            "images": images,
            "annotations": instances,
            "categories": [{"id": kind, "name": f"thing {kind}"} for kind in range(80)],
        },
    }
    (folder / "annotations").mkdir()
    for name, content in files.items():
        (folder / "annotations" / name).write_text(json.dumps(content))
    return {"images": str(folder / "images.zip"), "annotations": str(folder / "annotations")}


def _decode(paths: dict[str, str]) -> None:
    json.loads(Path(paths["annotations"], "captions_all.json").read_bytes())
    with zipfile.ZipFile(paths["images"]) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            hashlib.sha256(data).hexdigest()
            with Image.open(io.BytesIO(data)) as image:
                image.load()


def _parse_boxes(paths: dict[str, str], folder: str) -> None:
    found = json.loads(Path(paths["annotations"], "instances_all.json").read_bytes())
    pd.DataFrame(found["annotations"]).to_parquet(Path(folder, "plain.parquet"))
    with zipfile.ZipFile(paths["images"]) as archive:
        for name in archive.namelist():
            with Image.open(io.BytesIO(archive.read(name))) as image:
                image.getexif()
