"""The embedded data set: pictures of things with five sentences each, and where in the picture each phrase is.

`generate` makes it from a seed, as one zip of pictures and a line of JSON a picture; `read` and `read_boxes` read
that zip as the readers of official layouts do theirs. The same options give the same bytes.
"""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

import cv2
import numpy as np
import pandas as pd
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from densevse.artifacts.files import atomic
from densevse.datasets.layout import CAPTION_COLUMNS, IMAGE_COLUMNS, Split
from densevse.datasets.readers import Options, Paths
from densevse.datasets.scenes_pictures import Box, draw
from densevse.datasets.scenes_sentences import describe
from densevse.datasets.scenes_world import Scene, sample_family
from densevse.datasets.texts import Text, check_layout, check_options, read_json, read_lines
from densevse.errors import InputError
from densevse.logs import progress

SOURCE, LINES = "scenes", "scenes.jsonl"
SPLITS = ("train", "val", "test")
# Date and permissions that every member of the zip is given, so that the bytes depend on the options alone.
DATE, PERMISSIONS = (1980, 1, 1, 0, 0, 0), 0o644 << 16


@dataclass(frozen=True)
class _Sizes:
    seed: int
    side: int
    images: dict[str, int]


class _Named(TypedDict):
    phrase: Text
    boxes: list[Box]


class _Phrase(_Named):
    start: int
    end: int


class _Caption(TypedDict):
    text: Text
    phrases: list[_Phrase]


class _Picture(TypedDict):
    """A line of the zip's file of lines."""

    image_id: Text
    file: Text
    split: Split
    family: Text
    things: list[_Named]
    captions: list[_Caption]


PICTURES: TypeAdapter[list[_Picture]] = TypeAdapter(list[_Picture])


@dataclass(frozen=True)
class _Sampled:
    scene: Scene
    split: str
    family: str  # a scene and its swaps are one family


def generate(options: Options, path: str) -> None:
    """Write the zip that the options describe: `seed`, `images` a split, and `size`, a picture's side in pixels.

    Raises `InputError` for options that are missing, unknown or of no use.
    """
    sizes = _checked(options)
    with atomic(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as file:
        lines = []
        for number, sampled in enumerate(progress(_scenes(sizes), "scenes", sum(sizes.images.values()))):
            picture, line = _picture(f"scene{number:05d}", sampled, sizes, number)
            _add(file, line["file"], picture)
            lines.append(json.dumps(line))
        _add(file, LINES, "".join(f"{line}\n" for line in lines).encode())


def read(options: Options, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Images and captions of a zip that `generate` made, under the source name `scenes`."""
    lines = _lines(paths)
    images = [(line["image_id"], SOURCE, line["file"], line["split"], line["family"]) for line in lines]
    captions = [(line["image_id"], caption["text"]) for line in lines for caption in line["captions"]]
    return pd.DataFrame(images, columns=[*IMAGE_COLUMNS, "family"]), pd.DataFrame(captions, columns=CAPTION_COLUMNS)


def read_boxes(options: Options, paths: Paths) -> pd.DataFrame:
    """The true boxes: of every single thing, without caption, and of every noun phrase.

    A thing's `phrase` is its attributes (size, texture, colour, shape, action). A phrase has the box around all that
    it names; one that names several equal things ("two red balls") also has a row for each of them.
    """
    return pd.DataFrame([row for line in _lines(paths) for row in _box_rows(line)])


def _checked(options: Options) -> _Sizes:
    check_options(options, {"seed", "images", "size"}, set(), "scenes")
    images, side = options["images"], options["size"]
    if not isinstance(images, dict) or sorted(images) != sorted(SPLITS) or not all(map(_is_positive, images.values())):
        raise InputError(f"options.images of scenes: expected a number of images for each of {SPLITS}, not {images}.")
    if not _is_positive(side) or side < 32:
        raise InputError(f"options.size of scenes: expected at least 32 pixels, to see anything, not {side!r}.")
    if not (options["seed"] == 0 or _is_positive(options["seed"])):
        raise InputError(f"options.seed of scenes: expected a number from 0 on, not {options['seed']!r}.")
    return _Sizes(options["seed"], side, images)


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and value > 0


def _scenes(sizes: _Sizes) -> Iterator[_Sampled]:
    """The scene of each picture. No scene comes twice, and a scene and its swaps are in one split."""
    random = np.random.default_rng(sizes.seed)
    seen: set[Scene] = set()
    families = count()
    for split in SPLITS:
        wanted = sizes.images[split]
        while wanted:
            swaps = sample_family(random)
            if not seen.isdisjoint(swaps):
                continue
            seen.update(swaps)
            family = f"family{next(families):05d}"
            yield from (_Sampled(scene, split, family) for scene in swaps[:wanted])
            wanted -= len(swaps[:wanted])


def _picture(image: str, sampled: _Sampled, sizes: _Sizes, number: int) -> tuple[bytes, dict[str, Any]]:
    random = np.random.default_rng([sizes.seed, number])
    scene = sampled.scene
    pixels, boxes = draw(scene, sizes.side, random)
    captions = [
        {
            "text": sentence.text,
            "phrases": [
                {
                    "phrase": " ".join(sentence.tokens[start:end]),
                    "start": start,
                    "end": end,
                    "boxes": _boxes_of(things, boxes),
                }
                for start, end, things in sentence.phrases
            ],
        }
        for sentence in describe(scene, random)
    ]
    things = [{"phrase": thing.name, "boxes": of_thing} for thing, of_thing in zip(scene.things, boxes, strict=True)]
    place = {"image_id": image, "file": f"images/{image}.png", "split": sampled.split, "family": sampled.family}
    line: dict[str, Any] = {**place, "scene": asdict(scene), "things": things, "captions": captions}
    return cv2.imencode(".png", pixels[..., ::-1])[1].tobytes(), line


def _boxes_of(things: frozenset[int], boxes: list[list[Box]]) -> list[Box]:
    """The box around all things named; of one that stands for several, each one's box too."""
    named = [box for thing in sorted(things) for box in boxes[thing]]
    left, top = (min(box[axis] for box in named) for axis in (0, 1))
    right, bottom = (max(box[axis] + box[axis + 2] for box in named) for axis in (0, 1))
    around = (left, top, right - left, bottom - top)
    return [around, *named] if len(things) == 1 and len(named) > 1 else [around]


def _box_rows(line: _Picture) -> Iterator[dict[str, Any]]:
    image = line["image_id"]
    for thing in line["things"]:
        for box in thing["boxes"]:
            yield _row(image, "", thing["phrase"], -1, -1, box)
    for position, caption in enumerate(line["captions"]):
        for phrase in caption["phrases"]:
            for box in phrase["boxes"]:
                yield _row(image, f"{image}#{position}", phrase["phrase"], phrase["start"], phrase["end"], box)


def _row(image: str, caption: str, phrase: str, start: int, end: int, box: Box) -> dict[str, Any]:
    place = dict(zip(("x", "y", "width", "height"), box, strict=True))
    return {"image_id": image, "caption_id": caption, "phrase": phrase, "start": start, "end": end, **place}


def _lines(paths: Paths) -> list[_Picture]:
    if SOURCE not in paths:
        raise InputError(f"the reader scenes needs a source {SOURCE!r}; it has {sorted(paths)}.")
    where = f"{paths[SOURCE]}, {LINES}"
    lines = [read_json(line.encode(), f"{where}, line {number}") for number, line in read_lines(paths[SOURCE], LINES)]
    return check_layout(PICTURES, lines, where)


def _add(file: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, DATE)
    member.external_attr = PERMISSIONS
    file.writestr(member, data)
