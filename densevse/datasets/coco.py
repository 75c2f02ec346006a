"""MS-COCO as published: captions_*.json and instances_*.json, photographs in an archive a split; Karpathy's splits."""

import pandas as pd

from densevse.artifacts.schemas import BOXES
from densevse.datasets import karpathy
from densevse.datasets.layout import CAPTION_COLUMNS, image_frame, image_sources, seeded_splits
from densevse.datasets.readers import Options, Paths
from densevse.datasets.texts import check_options, read_files, read_json
from densevse.errors import InputError
from densevse.logs import logger


def read(options: Options, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Images and captions of a data set with the sources `annotations` (archive, folder or file) and images.

    An image's id is its official number. Options: `karpathy`, the name of Karpathy's file in the source `karpathy`,
    which gives splits (with restval), order and sentences; or else `splits`, split -> number of images drawn at
    random, and `seed`, where all official captions_*.json are read, sentences by their ids.
    """
    check_options(options, set(), {"karpathy", "splits", "seed"}, "coco")
    if ("splits" in options) == ("karpathy" in options):
        raise InputError(
            "options of the reader coco: give either `karpathy` or `splits` (numbers of images), not both."
        )
    sources = image_sources(paths, {"annotations", "karpathy"})
    if "karpathy" in options:
        return karpathy.read({"karpathy": options["karpathy"]}, {**sources, "karpathy": paths.get("karpathy", "")})
    files, captions = _official(paths)
    splits = seeded_splits(files, options["splits"], options.get("seed", 0))
    return image_frame(splits, files, sources), captions


def read_boxes(options: Options, paths: Paths) -> pd.DataFrame:
    """The objects of instances_*.json: a box each with its class, by image and annotation id; crowds are left out."""
    boxes = []
    for name, data in _annotations(paths, "instances_*.json"):
        # Outlines are most of the file; only boxes are needed.
        content = read_json(data, f"{paths['annotations']}, {name}", leave_out="segmentation")
        names = {category["id"]: category["name"] for category in content["categories"]}
        crowds = 0
        for item in sorted(content["annotations"], key=lambda item: (item["image_id"], item["id"])):
            if item["iscrowd"]:
                crowds += 1
            else:
                boxes.append((str(item["image_id"]), "", names[item["category_id"]], -1, -1, *item["bbox"]))
        logger.info("%s: %d crowds left out", name, crowds)
    return pd.DataFrame(boxes, columns=[column.name for column in BOXES.columns])


def _official(paths: Paths) -> tuple[dict[str, str], pd.DataFrame]:
    """File names by image id, in the order of the files; captions by annotation id."""
    files: dict[str, str] = {}
    captions = []
    for name, data in _annotations(paths, "captions_*.json"):
        where = f"{paths['annotations']}, {name}"
        content = read_json(data, where)
        try:
            images = [(str(image["id"]), image["file_name"]) for image in content["images"]]
            captions += [(item["id"], str(item["image_id"]), item["caption"]) for item in content["annotations"]]
        except (KeyError, TypeError) as error:
            raise InputError(f"{where}: not in the layout of MS-COCO's captions (no {error}).") from error
        twice = [image for image, _ in images if image in files] if files else []
        if twice or len(dict(images)) != len(images):
            raise InputError(f"{where}: images are in it twice, or in an earlier file too: {twice[:20]}.")
        files.update(images)
    rows = [(image, text) for _, image, text in sorted(captions)]
    return files, pd.DataFrame(rows, columns=CAPTION_COLUMNS)


def _annotations(paths: Paths, pattern: str) -> list[tuple[str, bytes]]:
    if "annotations" not in paths:
        raise InputError(f"the reader coco needs a source `annotations` that holds {pattern}.")
    return list(read_files(paths["annotations"], pattern))
