"""Reads Karpathy's files (dataset_flickr8k.json, dataset_flickr30k.json, dataset_coco.json): sentences and splits.

They have the splits of "Deep Visual-Semantic Alignments for Generating Image Descriptions" (CVPR 2015), which later
papers use.
"""

import pandas as pd
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from densevse.artifacts.file_names import refuse_repeated
from densevse.config.readers import Karpathy
from densevse.datasets.layout import (
    CAPTION_COLUMNS,
    FileSplit,
    Paths,
    Text,
    check_layout,
    image_frame,
    image_sources,
    read_file,
    read_json,
)
from snakeproof.errors import InputError


class _NumberedSentence(TypedDict, total=False):
    sentid: int


class _Sentence(_NumberedSentence):
    raw: Text | None


class _Numbered(TypedDict, total=False):
    cocoid: int


class Entry(_Numbered):
    """An image's entry in the file; `cocoid` is MS-COCO's number, and `sentid` that of an annotation.

    In the files of other data sets, `sentid` is the place in the file.
    """

    filename: Text
    split: FileSplit
    sentences: list[_Sentence]


class _KarpathyFile(TypedDict):
    images: list[Entry]


FILE: TypeAdapter[_KarpathyFile] = TypeAdapter(_KarpathyFile)


def read(options: Karpathy, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions from the source `karpathy` (his file, or an archive with it) and images."""
    entries = read_entries(options.karpathy, paths)
    splits = {image_id(entry): entry["split"] for entry in entries}
    files = {image_id(entry): entry["filename"] for entry in entries}
    return image_frame(splits, files, image_sources(paths, {"karpathy"})), captions(entries)


def read_entries(name: str, paths: Paths) -> list[Entry]:
    """The entries of the file of that name, one for each image, in order.

    Raises `InputError` if the file has another layout, or an image occurs twice.
    """
    if not paths.get("karpathy"):
        raise InputError("options.karpathy needs a source `karpathy`: the file of that name, or an archive with it.")
    where = f"{paths['karpathy']}, {name}"
    content = read_json(read_file(paths["karpathy"], name), where)
    entries = check_layout(FILE, content, where)["images"]
    refuse_repeated(map(image_id, entries), f"{where}: these images occur twice")
    return entries


def image_id(entry: Entry) -> str:
    """The official id: MS-COCO's number, else the file's name."""
    return str(entry.get("cocoid", entry["filename"]))


def captions(entries: list[Entry]) -> pd.DataFrame:
    """The sentences as written (`raw`), in the file's order; MS-COCO's with their annotations' ids."""
    rows = [
        (image_id(entry), sentence["raw"], sentence.get("sentid") if "cocoid" in entry else None)
        for entry in entries
        for sentence in entry["sentences"]
    ]
    return pd.DataFrame(rows, columns=[*CAPTION_COLUMNS, "sentid"]).astype({"sentid": "Int64"})
