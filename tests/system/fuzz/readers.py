"""A small valid file for each reader, and the call of the reader."""

import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from densevse.artifacts.archives import Archive
from densevse.artifacts.images import decode, examine
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.datasets import coco as coco_files
from densevse.datasets.given_boxes import read_entities, write_given_boxes
from densevse.datasets.readers import write_dataset
from densevse.language.tokens import tokenize, write_tokens
from densevse.language.word_vectors import read_vectors
from densevse.scenes import reader as scenes
from snakeproof import schema

NAMES = "abcd"
SENTENCE = "Two dogs run on the grass é ."
SPLITS = {"train": 2, "val": 1, "test": 1}


@dataclass(frozen=True)
class Target:
    """A reader: its files, the one that is damaged, and the call, which gets their folder."""

    files: Mapping[str, bytes]
    spoilt: str
    read: Callable[[Path], Any]


def picture(kind: str = "JPEG") -> bytes:
    pixels = np.random.default_rng(1).integers(0, 255, (20, 30, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def zipped(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


PHOTOGRAPHS = {f"images/{name}.jpg": picture() for name in NAMES}
"""In a folder, so that the reader sees names at once."""


def dataset(reader: str, options: Mapping[str, Any], **sources: str) -> Callable[[Path], Any]:
    """Read a data set as the workflow does: its tables are written, and so must be what their schemas say."""

    def read(folder: Path) -> None:
        settings = {"reader": reader, "options": options, "known_unreadable": []}
        files = {name: str(folder / file) for name, file in sources.items()}
        tables = str(folder / "images.parquet"), str(folder / "captions.parquet")
        write_dataset(settings, files, *tables, 1)

    return read


def all_members(folder: Path) -> list[bytes]:
    with Archive.open(folder / "archive") as archive:
        return [archive.read(name) for name in archive.names()]


def captions() -> pd.DataFrame:
    rows = [(f"{name}.jpg#0", f"{name}.jpg", 0, SENTENCE, "train") for name in NAMES]
    return pd.DataFrame(rows, columns=["caption_id", "image_id", "position", "text", "split"])


def given_boxes(folder: Path) -> None:
    images = pd.DataFrame({"image_id": [f"{name}.jpg" for name in NAMES], "source": "images", "file": "x"})
    images = images.assign(split="train", width=30, height=20, sha256="", captions=1, family="", status="ok")
    schema.write(images, IMAGES, folder / "images.parquet")
    schema.write(captions(), CAPTIONS, folder / "captions.parquet")
    paths = [str(folder / f"{name}.parquet") for name in ("boxes", "images", "captions", "tokens", "output")]
    write_tokens(*paths[2:4])
    write_given_boxes(*paths)


def made(write: Callable[[Path], Any]) -> bytes:
    """The bytes of a file that a function writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made")
        write(path)
        return path.read_bytes()


def _boxes() -> bytes:
    rows = [(f"{name}.jpg", f"{name}.jpg#0", "two dogs", 0, 2, 1.0, 2.0, 3.0, 4.0) for name in NAMES]
    frame = pd.DataFrame(rows, columns=[column.name for column in BOXES.columns])
    return made(lambda path: frame.to_parquet(path))


def targets() -> dict[str, Target]:
    """Every reader by name."""
    flickr_texts = {
        "text/token.txt": "".join(f"{n}.jpg#{i}\t{SENTENCE}\n" for n in NAMES for i in range(3)).encode(),
        "text/train.txt": b"a.jpg\nb.jpg\n",
        "text/val.txt": b"c.jpg\n",
        "text/test.txt": b"d.jpg\n",
    }
    lists = {"train": "train.txt", "val": "val.txt", "test": "test.txt"}
    flickr = dataset("flickr", {"captions": "token.txt", "splits": lists}, images="images", text="text")
    entries = [
        {"filename": f"{n}.jpg", "split": "train", "sentences": [{"raw": SENTENCE}], "imgid": i}
        for i, n in enumerate(NAMES)
    ]
    coco = {
        "images": [{"id": i, "file_name": f"{n}.jpg", "width": 30} for i, n in enumerate(NAMES)],
        "annotations": [{"id": 10 + i, "image_id": i, "caption": SENTENCE} for i in range(4)],
    }
    instances = {
        "categories": [{"id": 1, "name": "dog"}],
        "annotations": [
            {"id": i, "image_id": i, "category_id": 1, "bbox": [1, 2, 3.5, 4], "iscrowd": 0, "segmentation": [[1, 2]]}
            for i in range(4)
        ],
    }
    page = "".join(f'<img src="cat/{n}.jpg"><table><tr><td>{SENTENCE}</td></tr></table>\n' for n in NAMES)
    sentence = "[/EN#1/people Two dogs] run on [/EN#2/scene the grass] é ."
    xml = "<annotation><object><name>1</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>5</xmax><ymax>6</ymax>"
    xml += "</bndbox></object></annotation>"
    entities = {f"e/Sentences/{n}.txt": sentence.encode() for n in NAMES}
    entities |= {f"e/Annotations/{n}.xml": xml.encode() for n in NAMES}
    vectors = np.arange(12, dtype="<f4").reshape(3, 4)
    words = ["dogs", "run", "é"]
    glove = "".join(f"{w} {' '.join(map(str, v))}\n" for w, v in zip(words, vectors.tolist(), strict=True)).encode()
    word2vec = b"3 4\n" + b"".join(w.encode() + b" " + v.tobytes() + b"\n" for w, v in zip(words, vectors, strict=True))
    splits = {"splits": SPLITS, "seed": 1}
    scene_options = {"seed": 1, "images": {"train": 2, "val": 1, "test": 1}, "size": 32}

    def vectors_of(format: str) -> Callable[[Path], Any]:
        return lambda folder: read_vectors(folder / "vectors", set(words), format, 4)

    def look(folder: Path) -> None:
        data = (folder / "image").read_bytes()
        examine(data, "image")
        decode(data, "image")

    rows = [
        {"image": f"{n}.jpg", "sentence": SENTENCE, "split": s}
        for n, s in zip(NAMES, ("train", "train", "val", "test"), strict=True)
    ]
    tables = {
        "csv": "".join(f"{','.join(row)}\n" for row in [list(rows[0]), *(row.values() for row in rows)]).encode(),
        "json_lines": "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
        "parquet": made(lambda path: pd.DataFrame(rows).to_parquet(path)),
    }

    def pairs_of(kind: str) -> Callable[[Path], Any]:
        options = {"format": kind, "file": f"t.{kind}", "split": "split"}
        return dataset("pairs", options, images="images", pairs=f"t.{kind}")

    def entity_boxes(folder: Path) -> Any:
        return read_entities(
            str(folder / "e"), captions(), {one: tokenize(SENTENCE) for one in captions()["caption_id"]}
        )

    def coco_boxes(folder: Path) -> Any:
        return coco_files.read_boxes({"annotations": str(folder / "annotations")})

    return {
        **{
            f"image {kind}": Target({"image": picture(kind)}, "image", look)
            for kind in ("JPEG", "PNG", "GIF", "TIFF", "WEBP", "BMP", "PPM")
        },
        "zip": Target({"archive": zipped(PHOTOGRAPHS)}, "archive", all_members),
        "tar": Target({"archive": tarred(PHOTOGRAPHS)}, "archive", all_members),
        **{
            f"pairs {kind}": Target({**PHOTOGRAPHS, f"t.{kind}": table}, f"t.{kind}", pairs_of(kind))
            for kind, table in tables.items()
        },
        **{
            f"flickr {name}": Target({**flickr_texts, **PHOTOGRAPHS}, f"text/{name}.txt", flickr)
            for name in ("token", "train")
        },
        "karpathy": Target(
            {"karpathy.json": json.dumps({"images": entries}).encode(), **PHOTOGRAPHS},
            "karpathy.json",
            dataset("karpathy", {"karpathy": "karpathy.json"}, images="images", karpathy="karpathy.json"),
        ),
        "coco captions": Target(
            {"annotations/captions_x.json": json.dumps(coco).encode(), **PHOTOGRAPHS},
            "annotations/captions_x.json",
            dataset("coco", splits, images="images", annotations="annotations"),
        ),
        "coco instances": Target(
            {"annotations/instances_x.json": json.dumps(instances).encode()}, "annotations/instances_x.json", coco_boxes
        ),
        "pascal page": Target(
            {"page.html": page.encode(), **{f"images/cat/{n}.jpg": picture() for n in NAMES}},
            "page.html",
            dataset("pascal", splits, images="images", sentences="page.html"),
        ),
        "pascal texts": Target(
            {
                **{f"texts/cat/{n}.txt": f"{SENTENCE}\n{SENTENCE}\n".encode() for n in NAMES},
                **{f"images/cat/{n}.jpg": picture() for n in NAMES},
            },
            "texts/cat/a.txt",
            dataset("pascal", splits, images="images", sentences="texts"),
        ),
        "scenes": Target(
            {"scenes.zip": made(lambda path: scenes.generate(scene_options, str(path)))},
            "scenes.zip",
            dataset("scenes", scene_options, scenes="scenes.zip"),
        ),
        "entities sentences": Target(entities, "e/Sentences/a.txt", entity_boxes),
        "entities boxes": Target(entities, "e/Annotations/a.xml", entity_boxes),
        "given boxes": Target({"boxes.parquet": _boxes()}, "boxes.parquet", given_boxes),
        "glove": Target({"vectors": glove}, "vectors", vectors_of("glove")),
        "word2vec": Target({"vectors": word2vec}, "vectors", vectors_of("word2vec")),
    }
