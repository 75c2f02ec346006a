"""The generated data set: pictures of things with five sentences each, and the boxes of each phrase.

`generate` makes it from a seed, as one zip of pictures with a line of JSON for each. `read` and `read_boxes` read that
zip, like the readers of official layouts. The same options give the same bytes.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count
from typing import Any, cast, get_args

import cv2
import numpy as np
import pandas as pd
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from densevse.config.datasets import Reading
from densevse.config.readers import Scenes
from densevse.config.values import Split
from densevse.datasets.layout import (
    BOX_COLUMNS,
    CAPTION_COLUMNS,
    IMAGE_COLUMNS,
    Paths,
    Text,
    check_layout,
    read_json,
    read_lines,
)
from densevse.scenes.pictures import Box, draw
from densevse.scenes.sentences import describe
from densevse.scenes.world import Scene, sample_family
from snakeproof.errors import InputError
from snakeproof.files import atomic_file
from snakeproof.logs import progress
from snakeproof.strict import validate

_SOURCE, SCENES_FILE = "scenes", "scenes.jsonl"
# Date and permissions of every member of the zip, so that the bytes depend only on the options.
DATE, PERMISSIONS = (1980, 1, 1, 0, 0, 0), 0o644 << 16

_AT_ONCE = 16  # pictures in one task of a process


class _Named(TypedDict):
    phrase: Text
    boxes: list[Box]


class _PhraseRecord(_Named):
    start: int
    end: int


class _CaptionRecord(TypedDict):
    text: Text
    phrases: list[_PhraseRecord]


class _PictureRecord(TypedDict):
    """A line of the zip's JSON lines."""

    image_id: Text
    file: Text
    split: Split
    family: Text
    things: list[_Named]
    captions: list[_CaptionRecord]


_PICTURES: TypeAdapter[list[_PictureRecord]] = TypeAdapter(list[_PictureRecord])


@dataclass(frozen=True)
class _Sampled:
    scene: Scene
    split: str
    family: str  # a scene and its swaps are one family


def generate(options: Mapping[str, Any], output: str, threads: int = 1) -> None:
    """The job that writes the zip of a generated data set, by `threads` processes, whose number changes no byte.

    `options` are the plain values of `Scenes`. Raises `InputError` for missing, unknown or unusable options.
    """
    chosen = cast(Scenes, validate(Reading, {"reader": "scenes", "options": options}, "the data set").options)
    with (
        atomic_file(output) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as file,
        ProcessPoolExecutor(threads) as pool,
    ):
        lines = []
        made = pool.map(partial(_picture, chosen), count(), _scenes(chosen), chunksize=_AT_ONCE)
        for picture, line in progress(made, "scenes", sum(chosen.images.values())):
            _add_member(file, line["file"], picture)
            lines.append(json.dumps(line))
        _add_member(file, SCENES_FILE, "".join(f"{line}\n" for line in lines).encode())


def read(_: Scenes, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions from a zip that `generate` wrote, under the source name `scenes`."""
    lines = _lines(paths)
    images = [(line["image_id"], _SOURCE, line["file"], line["split"], line["family"]) for line in lines]
    captions = [(line["image_id"], caption["text"]) for line in lines for caption in line["captions"]]
    return pd.DataFrame(images, columns=[*IMAGE_COLUMNS, "family"]), pd.DataFrame(captions, columns=CAPTION_COLUMNS)


def read_boxes(paths: Paths) -> pd.DataFrame:
    """Reads the true boxes of every single thing, without caption, and of every noun phrase.

    A thing's `phrase` is its attributes (size, texture, colour, shape, action). A phrase has the box around everything
    that it names; a phrase for several equal things ("two red balls") also has a row for each of them.
    """
    return pd.DataFrame([row for line in _lines(paths) for row in _box_rows(line)], columns=BOX_COLUMNS)


def _scenes(chosen: Scenes) -> Iterator[_Sampled]:
    """The scene of each picture. A scene and its swaps are in one split.

    Scenes are distinct, but some differ only in `mirrored`, and these may be in two splits (docs/limits.md).
    """
    random = np.random.default_rng(chosen.seed)
    seen: set[Scene] = set()
    families = count()
    for split in get_args(Split):
        wanted = chosen.images[split]
        while wanted:
            swaps = sample_family(random)
            if not seen.isdisjoint(swaps):
                continue
            seen.update(swaps)
            family = f"family{next(families):05d}"
            yield from (_Sampled(scene, split, family) for scene in swaps[:wanted])
            wanted -= len(swaps[:wanted])


def _picture(chosen: Scenes, number: int, sampled: _Sampled) -> tuple[bytes, dict[str, Any]]:
    random = np.random.default_rng([chosen.seed, number])
    image, scene = f"scene{number:05d}", sampled.scene
    pixels, boxes = draw(scene, chosen.size, random)
    captions = [
        {
            "text": sentence.text,
            "phrases": [
                {
                    "phrase": " ".join(sentence.tokens[start:end]),
                    "start": start,
                    "end": end,
                    "boxes": _phrase_boxes(things, boxes),
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


def _phrase_boxes(things: frozenset[int], boxes: list[list[Box]]) -> list[Box]:
    """The box around all things named; for a thing that stands for several, also the box of each."""
    named = [box for thing in sorted(things) for box in boxes[thing]]
    left, top = (min(box[axis] for box in named) for axis in (0, 1))
    right, bottom = (max(box[axis] + box[axis + 2] for box in named) for axis in (0, 1))
    around = (left, top, right - left, bottom - top)
    return [around, *named] if len(things) == 1 and len(named) > 1 else [around]


def _box_rows(line: _PictureRecord) -> Iterator[tuple[Any, ...]]:
    image = line["image_id"]
    for thing in line["things"]:
        yield from ((image, "", thing["phrase"], -1, -1, *box) for box in thing["boxes"])
    for position, caption in enumerate(line["captions"]):
        for phrase in caption["phrases"]:
            place = f"{image}#{position}", phrase["phrase"], phrase["start"], phrase["end"]
            yield from ((image, *place, *box) for box in phrase["boxes"])


def _lines(paths: Paths) -> list[_PictureRecord]:
    if _SOURCE not in paths:
        raise InputError(f"the reader scenes needs a source {_SOURCE!r}; it has {sorted(paths)}.")
    where = f"{paths[_SOURCE]}, {SCENES_FILE}"
    lines = [
        read_json(line.encode(), f"{where}, line {number}") for number, line in read_lines(paths[_SOURCE], SCENES_FILE)
    ]
    return check_layout(_PICTURES, lines, where)


def _add_member(file: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, DATE)
    member.external_attr = PERMISSIONS
    file.writestr(member, data)
