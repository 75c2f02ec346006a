"""Karpathy's caption files (dataset_flickr8k.json, dataset_flickr30k.json, dataset_coco.json): sentences and splits.

The splits of "Deep Visual-Semantic Alignments for Generating Image Descriptions" (CVPR 2015), which later papers use.
"""

from typing import Any

import pandas as pd

from densevse.datasets.layout import CAPTION_COLUMNS, image_frame, image_sources
from densevse.datasets.readers import Options, Paths
from densevse.datasets.texts import check_options, read_file, read_json
from densevse.errors import InputError


def read(options: Options, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Images and captions of a data set with the sources `karpathy` (his file, or an archive that holds it) and images.

    Option `karpathy`: the file's name.
    """
    check_options(options, {"karpathy"}, set(), "karpathy")
    entries = read_entries(options, paths)
    splits = {image_id(entry): entry["split"] for entry in entries}
    files = {image_id(entry): entry["filename"] for entry in entries}
    return image_frame(splits, files, image_sources(paths, {"karpathy"})), captions(entries)


def read_entries(options: Options, paths: Paths) -> list[dict[str, Any]]:
    """An entry an image, in the file's order. Raises `InputError` if it is no such file, or has an image twice."""
    if "karpathy" not in paths:
        raise InputError("options.karpathy needs a source `karpathy`: the file of that name, or an archive with it.")
    where = f"{paths['karpathy']}, {options['karpathy']}"
    content = read_json(read_file(paths["karpathy"], options["karpathy"]), where)
    try:
        entries: list[dict[str, Any]] = content["images"]
        ids = [
            (image_id(entry), entry["split"], [sentence["raw"] for sentence in entry["sentences"]]) for entry in entries
        ]
    except (KeyError, TypeError) as error:
        raise InputError(f"{where}: not in Karpathy's layout (no {error}).") from error
    twice = pd.Series([image for image, _, _ in ids]).loc[lambda images: images.duplicated()]
    if len(twice):
        raise InputError(f"{where}: these images are in it twice: {list(twice[:20])}.")
    return entries


def image_id(entry: dict[str, Any]) -> str:
    """The official id: MS-COCO's number, else the file's name."""
    return str(entry.get("cocoid", entry["filename"]))


def captions(entries: list[dict[str, Any]]) -> pd.DataFrame:
    """The sentences as their writers wrote them (`raw`), in the file's order."""
    rows = [(image_id(entry), sentence["raw"]) for entry in entries for sentence in entry["sentences"]]
    return pd.DataFrame(rows, columns=CAPTION_COLUMNS)
