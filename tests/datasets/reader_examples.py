"""Small data sets with given contents, in the layout of each reader.

Each function writes a data set below a folder and returns the reader's options and the paths of its sources.
"""

import csv
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SPLITS = {"train": 14, "val": 3, "test": 3}
IMAGES = sum(SPLITS.values())
SENTENCES = 5


class Contents(NamedTuple):
    """Images in the order of the splits, by file name: their bytes, and five sentences of each."""

    pictures: Mapping[str, bytes]
    sentences: Mapping[str, list[str]]

    @property
    def splits(self) -> dict[str, str]:
        return dict(zip(self.pictures, (split for split, count in SPLITS.items() for _ in range(count)), strict=True))


Written = tuple[dict[str, Any], dict[str, str]]


def shade(number: int) -> bytes:
    """A picture that differs from those of other numbers."""
    pixels = np.random.default_rng(number).integers(0, 256, (6, 8, 3), np.uint8)
    return bytes(cv2.imencode(".png", pixels)[1])


def contents(
    names: Mapping[int, str] | None = None,
    sentences: Mapping[int, str] | None = None,
    pictures: Mapping[int, bytes] | None = None,
) -> Contents:
    """Usual contents, with other names, first sentences or pictures of some images (by number)."""
    called = [(names or {}).get(number, f"img{number:02d}.png") for number in range(IMAGES)]
    texts = {
        name: [f"Sentence {row} of image {number} ." for row in range(SENTENCES)] for number, name in enumerate(called)
    }
    for number, text in (sentences or {}).items():
        texts[called[number]][0] = text
    shades = {name: (pictures or {}).get(number, shade(number)) for number, name in enumerate(called)}
    return Contents(shades, texts)


def write_files(folder: Path, files: Mapping[str, bytes | str]) -> str:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(folder)


def flickr(folder: Path, found: Contents) -> Written:
    lines = [f"{name}#{row}\t{text}\n" for name, texts in found.sentences.items() for row, text in enumerate(texts)]
    lists = {split: [name for name, of in found.splits.items() if of == split] for split in SPLITS}
    text = {"token.txt": "".join(lines), **{f"{split}.txt": "\n".join(names) for split, names in lists.items()}}
    paths = {"images": write_files(folder / "images", found.pictures), "text": write_files(folder / "text", text)}
    return {"captions": "token.txt", "splits": {split: f"{split}.txt" for split in SPLITS}}, paths


def karpathy(folder: Path, found: Contents) -> Written:
    entries = [
        {"filename": name, "split": split, "sentences": [{"raw": text} for text in found.sentences[name]]}
        for name, split in found.splits.items()
    ]
    paths = {"images": write_files(folder / "images", found.pictures)}
    paths["karpathy"] = write_files(folder / "karpathy", {"dataset.json": json.dumps({"images": entries})})
    return {"karpathy": "dataset.json"}, paths


def coco(folder: Path, found: Contents) -> Written:
    images = [{"id": number, "file_name": name} for number, name in enumerate(found.pictures)]
    texts = [(number, text) for number, texts in enumerate(found.sentences.values()) for text in texts]
    annotations = [{"id": 100 + row, "image_id": image, "caption": text} for row, (image, text) in enumerate(texts)]
    whole = json.dumps({"images": images, "annotations": annotations})
    paths = {"images": write_files(folder / "images", found.pictures)}
    paths["annotations"] = write_files(folder / "annotations", {"captions_all.json": whole})
    return {"splits": SPLITS}, paths


def _rows(found: Contents) -> list[dict[str, Any]]:
    return [
        {"image": name, "split": split, "sentence": text}
        for name, split in found.splits.items()
        for text in found.sentences[name]
    ]


def pairs_csv(folder: Path, found: Contents) -> Written:
    table = io.StringIO()
    lines = csv.DictWriter(table, ["image", "split", "sentence"])
    lines.writeheader()
    lines.writerows(_rows(found))
    paths = {"images": write_files(folder / "images", found.pictures)}
    return {"split": "split", "file": "p.csv"}, {**paths, "pairs": write_files(folder, {"p.csv": table.getvalue()})}


def pairs_json_lines(folder: Path, found: Contents) -> Written:
    paths = {"images": write_files(folder / "images", found.pictures)}
    paths["pairs"] = write_files(folder, {"p.jsonl": "".join(f"{json.dumps(row)}\n" for row in _rows(found))})
    return {"split": "split", "file": "p.jsonl"}, paths


def pairs_parquet(folder: Path, found: Contents) -> Written:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(_rows(found)), folder / "p.parquet")
    paths = {"images": write_files(folder / "images", found.pictures), "pairs": str(folder / "p.parquet")}
    return {"split": "split"}, paths


def pairs_with_bytes(folder: Path, found: Contents) -> Written:
    """As the Hugging Face Hub has them: the pictures, and lists of sentences, are in the table."""
    rows = [
        {"image": {"bytes": found.pictures[name], "path": name}, "name": name, "split": split, "sentence": texts}
        for (name, split), texts in zip(found.splits.items(), found.sentences.values(), strict=True)
    ]
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "p.parquet")
    return {"split": "split", "image_id": "name", "sentences_as": "list"}, {"pairs": str(folder / "p.parquet")}


def pascal(folder: Path, found: Contents) -> Written:
    names = {name: name if "/" in name else f"category/{name}" for name in found.pictures}
    pictures = {str(Path(names[name]).with_suffix(".jpg")): data for name, data in found.pictures.items()}
    texts = {str(Path(names[name]).with_suffix(".txt")): "\n".join(lines) for name, lines in found.sentences.items()}
    paths = {"images": write_files(folder / "images", pictures), "sentences": write_files(folder / "text", texts)}
    return {"splits": SPLITS}, paths


def scan(folder: Path, found: Contents) -> Written:
    files = {}
    for split, name in (("train", "train"), ("val", "dev"), ("test", "test")):
        ids = [image for image, of in found.splits.items() if of == split]
        files[f"{name}_ids.txt"] = "\n".join(ids)
        files[f"{name}_caps.txt"] = "\n".join(text for image in ids for text in found.sentences[image])
    return {"copies": 1}, {"precomp": write_files(folder / "precomp", files)}


def scenes(folder: Path, found: Contents) -> Written:
    lines = [
        {"image_id": str(Path(name).with_suffix("")), "file": name, "split": split, "family": name, "things": []}
        | {"captions": [{"text": text, "phrases": []} for text in found.sentences[name]]}
        for name, split in found.splits.items()
    ]
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "scenes.zip", "w") as archive:
        for name, data in {
            **found.pictures,
            "scenes.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines),
        }.items():
            archive.writestr(name, data)
    return {"images": SPLITS}, {"scenes": str(folder / "scenes.zip")}


def webdataset_txt(folder: Path, found: Contents, as_json: bool = False) -> Written:
    folder.mkdir(exist_ok=True)
    for split in SPLITS:
        with tarfile.open(folder / f"{split}.tar", "w") as archive:
            for name in (name for name, of in found.splits.items() if of == split):
                texts = found.sentences[name]
                data = json.dumps({"caption": texts}) if as_json else "\n".join(texts)
                text = str(Path(name).with_suffix(".json" if as_json else ".txt"))
                for member, content in ((name, found.pictures[name]), (text, data.encode())):
                    info = tarfile.TarInfo(member)
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))
    return {"files": {split: f"{split}.tar" for split in SPLITS}}, {"shards": str(folder)}


def webdataset_json(folder: Path, found: Contents) -> Written:
    options, paths = webdataset_txt(folder, found, as_json=True)
    return {**options, "sentences": "json"}, paths


EXAMPLES: dict[str, dict[str, Callable[[Path, Contents], Written]]] = {
    "coco": {"json": coco},
    "flickr": {"txt": flickr},
    "karpathy": {"json": karpathy},
    "pairs": {
        "csv": pairs_csv,
        "json_lines": pairs_json_lines,
        "parquet": pairs_parquet,
        "parquet with bytes": pairs_with_bytes,
    },
    "pascal": {"txt": pascal},
    "scan": {"txt": scan},
    "scenes": {"zip": scenes},
    "webdataset": {"txt": webdataset_txt, "json": webdataset_json},
}
"""The functions of each reader, by the format of its sentences."""
