"""Writes the true boxes and masks of a data set's official files, in pixels of the upright images.

A reader of such files (densevse/datasets/readers.py) has a function `read_boxes(paths) -> boxes`, whose frame has the
columns of the BOXES schema. A reader of masks has `read_masks(paths) -> masks`, with the columns of MASKS. Both are in
pixels as the annotators' files count them, and may have the column `origin`, which errors name. If the files state the
size of an image, boxes also have the columns `stated_width` and `stated_height`.

Annotations refer to pixels as an image file stores them, but its EXIF data may tell a viewer to turn them. Boxes and
masks of such an image are turned with it, unless the stated size is that of the turned image.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import drop_unknown_images
from densevse.artifacts.images import SIDEWAYS, ImageFiles, orientation
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.artifacts.schemas.proposals import MASKS, run_lengths, runs_to_mask
from densevse.config.readers import READERS
from densevse.datasets.layout import BOX_COLUMNS, STATED_SIZE, Paths
from densevse.datasets.readers import implementation
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger, progress
from snakeproof.schema import ORIGIN

LEFT_TO_RIGHT, TOP_TO_BOTTOM = (2, 3, 7, 8), (3, 4, 6, 7)
"""The EXIF orientations that mirror stored pixels along x, or along y, before those of `SIDEWAYS` swap the two."""


def write_boxes(reading: Mapping[str, Any], sources: Mapping[str, str], image_table: str, output: str) -> None:
    """The job that writes the true boxes of the images in a data set's image table, in its order, as an artifact.

    `reading` has the plain values of a `Reading`. Raises `InputError` that names an image of another size than stated,
    or a box that breaks a rule of BOXES.
    """
    annotations, images = _annotations(reading, sources), schema.read(image_table, IMAGES)
    boxes = _select_objects(implementation(reading["reader"]).read_boxes(sources), images, annotations)
    stated = boxes.reindex(columns=STATED_SIZE).set_axis(["width", "height"], axis=1)
    turns = _turns(boxes["image_id"], stated, images, ImageFiles(sources), annotations)
    schema.write(_turn_boxes(boxes[[*BOX_COLUMNS, ORIGIN]], turns), BOXES.bind(images=images), output)


def write_masks(reading: Mapping[str, Any], sources: Mapping[str, str], image_table: str, output: str) -> None:
    """The job that writes the objects' masks of the images in a data set's image table, in its order, as an artifact.

    `reading` has the plain values of a `Reading`. Raises `InputError` that names an image of another size than its
    masks, or a mask that breaks a rule of MASKS.
    """
    annotations, images = _annotations(reading, sources), schema.read(image_table, IMAGES)
    masks = _select_objects(implementation(reading["reader"]).read_masks(sources), images, annotations)
    turns = _turns(masks["image_id"], masks[["width", "height"]], images, ImageFiles(sources), annotations)
    schema.write(_turn_masks(masks, turns), MASKS.bind(images=images), output)


def _annotations(reading: Mapping[str, Any], paths: Paths) -> str:
    """The path of the files with boxes and masks. Raises `InputError` for a data set without them."""
    source = READERS[reading["reader"]].SENTENCES
    if source not in paths:
        raise InputError(
            f"boxes and masks are read from the source {source}, which the data set lacks; name your file or folder "
            f"as its local.{source}."
        )
    return paths[source]


def _select_objects(objects: pd.DataFrame, images: pd.DataFrame, annotations: str) -> pd.DataFrame:
    """The objects whose images are in an image table, in its order, with their origin; the files are `annotations`."""
    if ORIGIN not in objects:
        objects[ORIGIN] = [f"{annotations}: object {number}" for number in range(len(objects))]
    objects = drop_unknown_images(objects, images, annotations)
    row = objects["image_id"].map(pd.Series(images.index, index=images["image_id"]))
    return objects.assign(row=row).sort_values("row", kind="stable", ignore_index=True).drop(columns="row")


def _turns(
    image_ids: pd.Series, stated: pd.DataFrame, images: pd.DataFrame, files: ImageFiles, annotations: str
) -> pd.DataFrame:
    """The EXIF orientation by which each object turns with its image, and the stored image's width and height.

    `image_ids` and `stated` (width, height; or NaN) are those of the objects.
    """
    known = images[(images["status"] == "ok") & images["image_id"].isin(image_ids.unique())].set_index("image_id")
    places = zip(known["source"], known["file"], strict=True)
    turns = [
        orientation(files.read(source, file), file)
        for source, file in progress(places, "looking for images that EXIF turns", len(known))
    ]
    known = known.assign(turn=pd.Series(turns, known.index, "int64"))[["turn", "width", "height"]]
    of = known.reindex(image_ids).reset_index()
    sideways = of["turn"].isin(SIDEWAYS)
    stored = pd.DataFrame(
        {"width": of["width"].where(~sideways, of["height"]), "height": of["height"].where(~sideways, of["width"])}
    )
    silent = stated["width"].isna() | of["width"].isna()
    as_stored, as_shown = ((stated == size).all(axis=1) for size in (stored, of[["width", "height"]]))
    wrong = ~(silent | as_stored | as_shown)
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        says, has = (f"{int(size['width'])} x {int(size['height'])}" for size in (stated.iloc[row], of.iloc[row]))
        raise InputError(
            f"{annotations}: says that image {image_ids.iloc[row]} has {says} pixels, but it has {has} "
            f"({of.loc[wrong, 'image_id'].nunique()} such images). Boxes and masks are those of the photographs that "
            "were annotated: use these, neither scaled nor cut."
        )
    turn = of["turn"].where(silent | as_stored, 1).fillna(1).astype(int)
    logger.info("objects of %d images are turned as EXIF says", image_ids[turn.to_numpy() > 1].nunique())
    return stored.assign(turn=turn)


def _turn_boxes(boxes: pd.DataFrame, turns: pd.DataFrame) -> pd.DataFrame:
    turn = turns["turn"]
    x = boxes["x"].where(~turn.isin(LEFT_TO_RIGHT), turns["width"] - boxes["x"] - boxes["width"])
    y = boxes["y"].where(~turn.isin(TOP_TO_BOTTOM), turns["height"] - boxes["y"] - boxes["height"])
    sideways = turn.isin(SIDEWAYS)
    return boxes.assign(
        x=x.where(~sideways, y),
        y=y.where(~sideways, x),
        width=boxes["width"].where(~sideways, boxes["height"]),
        height=boxes["height"].where(~sideways, boxes["width"]),
    )


def _turn_masks(masks: pd.DataFrame, turns: pd.DataFrame) -> pd.DataFrame:
    found = []
    for height, width, runs, turn in zip(masks["height"], masks["width"], masks["runs"], turns["turn"], strict=True):
        mask = _turn_mask(runs_to_mask(runs, height, width), turn) if turn > 1 else None
        found.append((height, width, runs) if mask is None else (*mask.shape, run_lengths(mask)))
    turned = pd.DataFrame(found, columns=["height", "width", "runs"], index=masks.index)
    return masks.assign(height=turned["height"], width=turned["width"], runs=turned["runs"])


def _turn_mask(mask: NDArray[np.bool_], turn: int) -> NDArray[np.bool_]:
    mask = mask[:, ::-1] if turn in LEFT_TO_RIGHT else mask
    mask = mask[::-1] if turn in TOP_TO_BOTTOM else mask
    return mask.T if turn in SIDEWAYS else mask
