"""Reads questions of the user's own, and those of benchmarks with their pictures, from files of their published form.

SugarCrepe (Hsieh et al., NeurIPS 2023): a folder with a JSON file for each category, as swap_att.json, of filename,
caption and negative_caption by number. The pictures are those of MS-COCO's val2017.

ARO (Yuksekgonul et al., ICLR 2023): visual_genome_relation.json or visual_genome_attribution.json, a list of
image_path, true_caption, false_caption and a box, to which the picture is cropped before it is scored.

Winoground (Thrush et al., CVPR 2022): examples.jsonl, lines of id, image_0, caption_0, image_1, caption_1 and
collapsed_tag. An example is two questions of one family.
"""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple, NotRequired

import pandas as pd
from PIL import Image
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from densevse.analyses.choices.making import write_choices
from densevse.analyses.choices.settings import PICTURES
from densevse.artifacts.archives import Archive
from densevse.artifacts.images import SUFFIXES, ImageFiles, decode
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.datasets.layout import Text, check_layout, read_files, read_json, read_lines
from densevse.datasets.readers import examine_images, unreadable_message
from densevse.evaluation.choices import read_choices
from densevse.language.parses import OK
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import atomic_file

Box = tuple[int, int, int, int]
"""Left, top, width and height, in pixels."""


class BenchmarkQuestion(NamedTuple):
    """A question with one wrong sentence, about a picture or a part of it."""

    question: str
    picture: str  # the name of its file, perhaps without an ending
    right: str
    wrong: str
    category: str
    family: str
    box: Box | None = None

    @property
    def image(self) -> str:
        """The image: a part of a picture is one of its own."""
        return self.picture if self.box is None else "{}#{},{},{},{}".format(self.picture, *self.box)


class _SugarCrepe(TypedDict):
    filename: Text
    caption: Text
    negative_caption: Text


class _Aro(TypedDict):
    image_path: Text
    true_caption: Text
    false_caption: Text
    bbox_x: int
    bbox_y: int
    bbox_w: int
    bbox_h: int
    relation_name: NotRequired[Text]


class _Winoground(TypedDict):
    id: int
    image_0: Text
    image_1: Text
    caption_0: Text
    caption_1: Text
    collapsed_tag: NotRequired[Text]


_SUGARCREPE: TypeAdapter[dict[str, _SugarCrepe]] = TypeAdapter(dict[str, _SugarCrepe])
_ARO: TypeAdapter[list[_Aro]] = TypeAdapter(list[_Aro])
_WINOGROUND: TypeAdapter[list[_Winoground]] = TypeAdapter(list[_Winoground])


def read_own_choices(file: str, image_table: str, questions: str, captions: str) -> None:
    """The job that reads a user's Parquet file of questions about test images of a data set.

    Raises `InputError` as `read_choices` does, or for an image that is no readable test image.
    """
    rows, images = read_choices(file), schema.read(image_table, IMAGES, ["image_id", "split", "status"])
    known = images.loc[(images["split"] == "test") & (images["status"] == OK), "image_id"]
    unknown = {"its image is no readable one of the split test; correct it": ~rows["image"].isin(known)}
    schema.check_rows(rows, unknown, file)
    write_choices(rows, questions, captions)


def read_published_choices(
    files: list[str], layout: str, threads: int, questions: str, captions: str, images: str, pictures: str
) -> None:
    """The job that reads a benchmark's questions and its pictures, which are cropped where questions have boxes.

    `files` are the path of the questions and that of the pictures. Writes CHOICES, CAPTIONS, IMAGES, and a zip of the
    pictures that questions name. Raises `InputError` for files of another layout, or pictures that cannot be read.
    """
    path, own_pictures = files
    asked = list(_READERS[layout](path))
    if not asked:
        raise InputError(f"{path}: there is no question in it; obtain the file again.")
    _write_pictures(asked, own_pictures, pictures)
    rows = pd.DataFrame([{**one._asdict(), "image": one.image, "wrong": [one.wrong]} for one in asked])
    write_choices(rows.drop(columns=["picture", "box"]), questions, captions)
    counts = rows.groupby("image", sort=False).agg(family=("family", "first"), captions=("right", "size")).reset_index()
    table = counts.rename(columns={"image": "image_id"}).assign(source=PICTURES, file=counts["image"], split="test")
    examined, problems = examine_images(table.astype({"captions": "int32"}), ImageFiles({PICTURES: pictures}), threads)
    if any(problems):
        raise InputError(f"{own_pictures}: {unreadable_message(examined, problems)}\nObtain these pictures again.")
    schema.write(examined, IMAGES, images)


def read_sugarcrepe(path: str) -> Iterator[BenchmarkQuestion]:
    """The questions of SugarCrepe's files."""
    for name, data in read_files(path, "*.json"):
        category = PurePosixPath(Path(name).name).stem
        for number, one in check_layout(_SUGARCREPE, read_json(data, name), name).items():
            texts = one["caption"], one["negative_caption"]
            yield BenchmarkQuestion(f"{category} {number}", one["filename"], *texts, category, one["filename"])


def read_aro(path: str) -> Iterator[BenchmarkQuestion]:
    """The questions of ARO's relations or attributions; those of relations have each relation as a category."""
    for name, data in read_files(path, "visual_genome_*.json"):
        rows: list[_Aro] = check_layout(_ARO, read_json(data, name), name)
        for number, one in enumerate(rows):
            box = one["bbox_x"], one["bbox_y"], one["bbox_w"], one["bbox_h"]
            category, picture = one.get("relation_name", "attribution"), one["image_path"]
            texts = one["true_caption"], one["false_caption"]
            yield BenchmarkQuestion(f"{Path(name).stem} {number}", picture, *texts, category, picture, box)


def read_winoground(path: str) -> Iterator[BenchmarkQuestion]:
    """The questions of Winoground, two of each example."""
    where = f"{path}, examples.jsonl"
    lines = [read_json(line.encode(), f"{where}, line {number}") for number, line in read_lines(path, "examples.jsonl")]
    for one in check_layout(_WINOGROUND, lines, where):
        pairs = (
            (one["image_0"], one["caption_0"], one["caption_1"]),
            (one["image_1"], one["caption_1"], one["caption_0"]),
        )
        for number, texts in enumerate(pairs):
            name = f"example {one['id']}"
            yield BenchmarkQuestion(f"{name}, {number}", *texts, one.get("collapsed_tag", "all"), name)


_READERS = {"sugarcrepe": read_sugarcrepe, "aro": read_aro, "winoground": read_winoground}


def _write_pictures(asked: list[BenchmarkQuestion], pictures: str, output: str) -> None:
    """Writes the pictures of questions, by the names of their images."""
    with Archive.open(pictures) as archive, atomic_file(output) as temporary, zipfile.ZipFile(temporary, "w") as file:
        names = _picture_names(archive)
        for image, one in {one.image: one for one in asked}.items():
            found = names.get(one.picture, [])
            if len(found) != 1:
                there = f"{', '.join(found)}; keep one" if found else "none; add it"
                raise InputError(
                    f"{pictures}: {one.question!r} asks of the picture {one.picture!r}, and there is {there}."
                )
            data = archive.read(found[0])
            file.writestr(zipfile.ZipInfo(image), data if one.box is None else _crop(data, one.box, image))


def _picture_names(archive: Archive) -> dict[str, list[str]]:
    """The paths of pictures by their names, with endings and without."""
    found: dict[str, list[str]] = {}
    for path in map(PurePosixPath, archive.names()):
        for name in (path.stem, path.name) if path.suffix.lower() in SUFFIXES else ():
            found.setdefault(name, []).append(str(path))
    return found


def _crop(data: bytes, box: Box, image: str) -> bytes:
    """The part of a picture in a box, as PNG. Raises `InputError` for a box that is not within the picture."""
    pixels = decode(data, image)
    left, top, width, height = box
    inside = left >= 0 and top >= 0 and left + width <= pixels.shape[1] and top + height <= pixels.shape[0]
    if not (inside and width > 0 and height > 0):
        size = f"{pixels.shape[1]} x {pixels.shape[0]}"
        raise InputError(f"{image}: its box is not within the picture of {size} pixels; obtain the picture again.")
    written = io.BytesIO()
    Image.fromarray(pixels[top : top + height, left : left + width]).save(written, "png")
    return written.getvalue()
