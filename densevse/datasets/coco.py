"""Reads MS-COCO as published (captions_*.json, instances_*.json, an archive for each split) or Karpathy's splits."""

from collections.abc import Sequence
from typing import Annotated, Any

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from densevse.artifacts.file_names import refuse_repeated
from densevse.artifacts.schemas.proposals import MASKS, run_lengths, runs_to_mask
from densevse.config.readers import Coco, Karpathy
from densevse.datasets import karpathy
from densevse.datasets.layout import (
    BOX_COLUMNS,
    CAPTION_COLUMNS,
    STATED_SIZE,
    Paths,
    Text,
    check_layout,
    image_frame,
    image_sources,
    read_files,
    read_json,
    seeded_splits,
)
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.schema import ORIGIN

Number = Annotated[float, Field(allow_inf_nan=False)]


class _Image(TypedDict):
    id: int | Text
    file_name: Text


class _Caption(TypedDict):
    id: int
    image_id: int | Text
    caption: Text | None


class _Captions(TypedDict):
    images: list[_Image]
    annotations: list[_Caption]


class _Category(TypedDict):
    id: int
    name: Text


class _Crowd(TypedDict, total=False):
    iscrowd: int  # files of the same layout without crowds often lack this key


class _Instance(_Crowd):
    id: int
    image_id: int | Text
    category_id: int
    bbox: tuple[Number, Number, Number, Number]  # x, y, width, height in pixels


class _Size(TypedDict):
    id: int | Text
    height: Annotated[int, Field(gt=0)]
    width: Annotated[int, Field(gt=0)]


class _Sized(TypedDict, total=False):
    images: list[_Size]  # many files of the same layout lack them


class _Instances(_Sized):
    categories: list[_Category]
    annotations: list[_Instance]


class _Outlined(_Instance):
    # Polygons: x, y, x, y ... in pixels; or run lengths. Crowds are not used.
    segmentation: list[Annotated[list[Number], Field(min_length=6)]] | dict[str, Any]


class _Outlines(TypedDict):
    categories: list[_Category]
    images: list[_Size]
    annotations: list[_Outlined]


_CAPTIONS: TypeAdapter[_Captions] = TypeAdapter(_Captions)
INSTANCES: TypeAdapter[_Instances] = TypeAdapter(_Instances)
OUTLINES: TypeAdapter[_Outlines] = TypeAdapter(_Outlines)

UNKNOWN_SIZE = (np.nan, np.nan)
FRACTION = 4
"""Bits of the fraction of a pixel in which outlines are drawn."""
LARGER = 8
"""The size of a drawn outline over that of its mask."""


def read(options: Coco, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions from the sources `annotations` (archive, folder or file) and images.

    An image's id is its official number. With the source `karpathy`, Karpathy's file gives splits (with restval), order
    and sentences. Without it, all official captions_*.json are read, and sentences are ordered by id.
    """
    sources = image_sources(paths, {"annotations", "karpathy"})
    if options.karpathy:
        by_karpathy = Karpathy(karpathy=options.karpathy)
        return karpathy.read(by_karpathy, {**sources, "karpathy": paths.get("karpathy", "")})
    files, captions = _read_captions(paths)
    splits = seeded_splits(files, options.splits or {}, options.seed)
    return image_frame(splits, files, sources), captions


def read_boxes(paths: Paths) -> pd.DataFrame:
    """Reads the objects of instances_*.json: a box each with its class, by annotation id, without crowds."""
    boxes: list[tuple[Any, ...]] = []
    for name, data in _annotations(paths, "instances_*.json"):
        where = f"{paths['annotations']}, {name}"
        # Outlines are most of the file, and only boxes are needed.
        content = check_layout(INSTANCES, read_json(data, where, leave_out="segmentation"), where)
        sizes = {str(image["id"]): (image["width"], image["height"]) for image in content.get("images", [])}
        for item, class_name in _single_objects(content, where):
            image_id, box, size = str(item["image_id"]), item["bbox"], sizes.get(str(item["image_id"]), UNKNOWN_SIZE)
            boxes.append((image_id, "", class_name, -1, -1, *box, *size, _origin(item, where)))
    return pd.DataFrame(boxes, columns=[*BOX_COLUMNS, *STATED_SIZE, ORIGIN])


def read_masks(paths: Paths) -> pd.DataFrame:
    """Reads the objects of instances_*.json: a mask each, drawn from its outline, with its class, without crowds."""
    masks: list[tuple[Any, ...]] = []
    too_thin = 0
    for name, data in _annotations(paths, "instances_*.json"):
        where = f"{paths['annotations']}, {name}"
        content = check_layout(OUTLINES, read_json(data, where), where)
        sizes = {str(image["id"]): (image["height"], image["width"]) for image in content["images"]}
        for item, class_name in _single_objects(content, where):
            image_id, origin = str(item["image_id"]), _origin(item, where)
            if image_id not in sizes:
                raise InputError(f"{origin}: the file's `images` have no size of its image {image_id}.")
            mask = _read_mask(item, *sizes[image_id], origin)
            if mask.any():
                masks.append((image_id, class_name, *sizes[image_id], run_lengths(mask), origin))
            else:
                too_thin += 1
    logger.info("%d masks left out that cover the centre of no pixel of their image", too_thin)
    return pd.DataFrame(masks, columns=[*(column.name for column in MASKS.columns), ORIGIN])


def read_classes(paths: Paths) -> pd.DataFrame:
    """Reads the classes of the objects of each image in instances_*.json, those of crowds too: image_id and class."""
    found: set[tuple[str, str]] = set()
    for name, data in _annotations(paths, "instances_*.json"):
        where = f"{paths['annotations']}, {name}"
        content = check_layout(INSTANCES, read_json(data, where, leave_out="segmentation"), where)
        found |= {
            (str(item["image_id"]), class_name) for item, class_name in _name_classes(content, where, crowds=True)
        }
    return pd.DataFrame(sorted(found), columns=["image_id", "class"])


def _single_objects(content: Any, where: str) -> list[tuple[Any, str]]:
    """The annotations of single objects with the names of their classes, by id.

    The official files have a few boxes without area. They are left out, and so are their masks.
    """
    single = _name_classes(content, where, crowds=False)
    found = [(item, name) for item, name in single if min(item["bbox"][2:]) != 0]
    crowds = len(content["annotations"]) - len(single)
    logger.info("%s: %d crowds and %d boxes without area left out", where, crowds, len(single) - len(found))
    return found


def _origin(item: Any, where: str) -> str:
    return f"{where}: annotation {item['id']}"


def _name_classes(content: Any, where: str, crowds: bool) -> list[tuple[Any, str]]:
    """The annotations, with those of crowds or without, and the names of their classes, by id."""
    names = {category["id"]: category["name"] for category in content["categories"]}
    kept = [item for item in content["annotations"] if crowds or not item.get("iscrowd")]
    refuse_repeated((item["id"] for item in content["annotations"]), f"{where}: annotations occur twice")
    for item in kept:
        if item["category_id"] not in names:
            raise InputError(f"{where}: annotation {item['id']} has an unknown category: {item['category_id']}.")
    return [(item, names[item["category_id"]]) for item in sorted(kept, key=lambda item: item["id"])]


def _read_mask(item: Any, height: int, width: int, origin: str) -> NDArray[np.bool_]:
    """The mask (height, width) of an annotation's polygons, or of run lengths as MS-COCO writes them uncompressed.

    Raises `InputError` if they are of another picture, or elsewhere than the annotation's box.
    """
    outline = item["segmentation"]
    if isinstance(outline, list):
        odd = [len(polygon) for polygon in outline if len(polygon) % 2]
        if odd:
            raise InputError(f"{origin}: a polygon has {odd[0]} numbers; x and y take turns, so write an even number.")
        corners = np.array([value for polygon in outline for value in polygon]).reshape(-1, 2)
        _check_extent(corners, item["bbox"], origin)
        return _draw_mask(outline, height, width)
    runs = outline.get("counts")
    if not isinstance(runs, list):
        raise InputError(f"{origin}: its run lengths are compressed; write `counts` as a list, or polygons.")
    of_kind = {*map(type, runs)} <= {int} and outline.get("size") == [height, width]
    if not of_kind or sum(runs) != height * width or min(runs, default=0) < 0:
        raise InputError(f"{origin}: its run lengths do not cover its image of {width} x {height} pixels.")
    mask = runs_to_mask(np.array(runs), height, width)
    pixels = np.argwhere(mask)[:, ::-1]
    _check_extent(np.concatenate((pixels, pixels + 1)), item["bbox"], origin)
    return mask


def _check_extent(corners: NDArray[Any], box: Sequence[float], origin: str) -> None:
    """Raises `InputError` if corners (n, 2) do not reach to the sides of a box, to a pixel and 2% of its side."""
    if not len(corners):
        raise InputError(f"{origin}: its mask is empty.")
    begin, end = corners.min(axis=0), corners.max(axis=0)
    first, sides = np.array(box[:2]), np.array(box[2:])
    if (np.maximum(np.abs(begin - first), np.abs(end - first - sides)) > 1 + 0.02 * sides).any():
        found = [round(float(value), 2) for value in (*begin, *(end - begin))]
        raise InputError(
            f"{origin}: its mask has the box {found}, and its bbox is {list(box)} (x, y, width, height); both are in "
            "pixels of the same picture."
        )


def _draw_mask(outline: list[list[float]], height: int, width: int) -> NDArray[np.bool_]:
    """The mask (height, width) of polygons, whose coordinates run between pixels: the first reaches from 0 to 1.

    OpenCV fills a polygon with the pixels that its border touches, which is half a pixel too much on each side. So it
    draws the polygon larger, and a pixel belongs to the object if its centre does.
    """
    mask = np.zeros((height, width), bool)
    polygons = [np.array(polygon).reshape(-1, 2) for polygon in outline]
    corners = np.concatenate([*polygons, np.empty((0, 2))])
    if not len(corners):
        return mask
    left, top = np.clip(np.floor(corners.min(axis=0)), 0, (width, height)).astype(int)
    right, bottom = np.clip(np.ceil(corners.max(axis=0)), 0, (width, height)).astype(int)
    large = np.zeros(((bottom - top) * LARGER, (right - left) * LARGER), np.uint8)
    for polygon in polygons if large.size else []:
        points = (polygon - (left, top)) * LARGER - 0.5
        cv2.fillPoly(large, [np.round(points * 2**FRACTION).astype(np.int32)], 1, shift=FRACTION)
    mask[top:bottom, left:right] = large[LARGER // 2 :: LARGER, LARGER // 2 :: LARGER]
    return mask


def _read_captions(paths: Paths) -> tuple[dict[str, str], pd.DataFrame]:
    """File names by image id, in the order of the files; captions by annotation id."""
    files: dict[str, str] = {}
    captions = []
    for name, data in _annotations(paths, "captions_*.json"):
        where = f"{paths['annotations']}, {name}"
        content = check_layout(_CAPTIONS, read_json(data, where), where)
        images = [(str(image["id"]), image["file_name"]) for image in content["images"]]
        refuse_repeated(
            [*files, *(image for image, _ in images)], f"{where}: images occur twice, here or in an earlier file"
        )
        files.update(images)
        for item in content["annotations"]:
            if str(item["image_id"]) not in files:
                raise InputError(f"{where}: annotation {item['id']} has an unknown image: {item['image_id']}.")
            captions.append((item["id"], str(item["image_id"]), item["caption"]))
    rows = [(image, text, number) for number, image, text in sorted(captions)]
    return files, pd.DataFrame(rows, columns=[*CAPTION_COLUMNS, "sentid"])


def _annotations(paths: Paths, pattern: str) -> list[tuple[str, bytes]]:
    if "annotations" not in paths:
        raise InputError(f"the reader coco needs a source `annotations` that holds {pattern}.")
    return list(read_files(paths["annotations"], pattern))
