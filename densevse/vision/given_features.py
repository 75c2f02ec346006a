"""Writes features that were computed elsewhere as artifacts, in the format of a network's features.

Region 0 of an image is the whole image, from the view `whole` of the same features or of a network. The file's regions
follow in its order. Without boxes in the file, regions have no area. A region without a score gets an infinite one, so
that no threshold excludes it.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX, Boxes, sizes_by_image
from densevse.artifacts.matrices import Matrix, open_matrix
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.shards import remove_old_shards, shard_slice
from densevse.artifacts.vectors import refuse_constant_vectors
from densevse.vision.boxes import clip_scored_boxes
from densevse.vision.given_files import ArrayFile, ArrayFolder, BottomUpFile, GivenFile, GivenImage, TableFile, read_ids
from snakeproof.errors import InputError
from snakeproof.logs import progress
from snakeproof.schema import ORIGIN, read
from snakeproof.store import FeatureStore, FeatureWriter
from snakeproof.strict import Strict, validate

IMAGES_AT_ONCE = 8
"""Images whose regions are written together."""
_MANY = 256
"""The number of regions or cells from which they are compared with the length of their vectors."""


class GivenOptions(Strict):
    """The options of reading a view of given features."""

    name: str  # the view's key in the configuration
    network: str  # the features' name, used in the place of a network's
    view: Literal["regions", "grid", "whole", "concepts"]
    format: Literal["scan", "array", "folder", "parquet", "bottom_up"]
    image_id: str
    mean: bool  # of an image's regions, for the whole image
    dtype: Literal["float16", "float32"]
    copies: int
    padding: Literal["zeros"] | None = None

    @property
    def zeros(self) -> Literal["kept", "refused", "padding"]:
        """What becomes of vectors that are zero."""
        regions = self.view == "regions" or self.mean
        return "kept" if not regions else "padding" if self.padding else "refused"


def read_given_features(
    image_table: str | Path,
    options: Mapping[str, object],
    file_names: Sequence[str],
    files: Sequence[str],
    output: str | Path,
    wildcards: Mapping[str, str],
    whole: str | Path | None = None,
) -> None:
    """The job that writes a shard's given features (schema REGION_FEATURES or IMAGE_FEATURES).

    `options` are those of `GivenOptions`, `files` the user's, `file_names` their contents (path, ids, boxes), and
    `whole` holds the shard's features of whole images, which become region 0. Raises `InputError` that names the file
    and the wrong row or id.
    """
    given, table = validate(GivenOptions, options, "the features"), read(image_table, IMAGES)
    own_files = dict(zip(file_names, files, strict=True))
    usable = table[table["status"] == "ok"]
    rows = table.iloc[shard_slice(wildcards["shard"], len(table))].loc[lambda found: found["status"] == "ok"]
    Path(output).parent.mkdir(parents=True, exist_ok=True)  # archives are unpacked in it
    file = _open_file(given, own_files, usable, Path(output).parent)
    file.check_ids(table["image_id"], usable["image_id"], given.image_id)
    refuse_constant_vectors((file.read(image_id, given.dtype).vectors for image_id in usable["image_id"]), file.where)
    read_from = {name: Path(own).name for name, own in own_files.items()}
    if whole is not None:
        _write_regions(rows, file, FeatureStore([whole], IMAGE_FEATURES), given, output, read_from)
    else:
        shape = _vector(file.read(usable["image_id"].iloc[0], given.dtype), given).shape
        with FeatureWriter(output, IMAGE_FEATURES, shape, given.dtype, files=read_from) as writer:
            for image_id in progress(rows["image_id"], given.name, len(rows)):
                vector = _vector(file.read(image_id, given.dtype), given)
                _check_shape(vector.shape, shape, given, image_id)
                writer.append(pd.DataFrame({"image_id": [image_id]}), vector[None])
    remove_old_shards(output)


def _open_file(given: GivenOptions, files: Mapping[str, str], images: pd.DataFrame, folder: Path) -> GivenFile:
    """The opened file of a view; archives are unpacked in `folder`."""
    dimensions = 2 if given.view in ("whole", "concepts") and not given.mean else 3
    if given.format == "bottom_up":
        return BottomUpFile(files["path"], given.image_id)
    if given.format == "folder":
        return ArrayFolder(files["path"], dimensions - 1, given.image_id)
    if given.format == "parquet":
        table = TableFile(files["path"], folder, dimensions == 2, given.view == "regions", given.image_id)
        table.check_form(images)
        return table
    if given.format == "scan":
        return _open_scan(given, files["path"], images, folder, dimensions)
    boxes = open_matrix(files["boxes"], "boxes", folder, 3).values if "boxes" in files else None
    matrix = open_matrix(files["path"], given.view, folder, dimensions)
    _check_axes(matrix, given)
    return ArrayFile([(matrix, read_ids(files["ids"], given.image_id))], boxes, zeros=given.zeros)


def _open_scan(given: GivenOptions, folder: str, images: pd.DataFrame, unpacked_in: Path, dimensions: int) -> GivenFile:
    """The arrays of SCAN's folder, one for each split; the image table lists their images in the files' order."""
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder; unpack the archive, as its arrays are read in place.")
    arrays = []
    for name, of in images.groupby("file", sort=False):
        path = Path(folder, str(name))
        if not path.is_file():
            raise InputError(f"{path}: no such file; the folder needs an array for each split.")
        matrix = open_matrix(path, given.view, unpacked_in, dimensions)
        _check_axes(matrix, given)
        arrays.append((matrix, list(of["image_id"])))
    return ArrayFile(arrays, copies=given.copies, zeros=given.zeros)


def _check_axes(matrix: Matrix, given: GivenOptions) -> None:
    """Raises `InputError` for an array (images, D, R), such as (N, 2048, 36), in place of (images, R, D)."""
    count, length = matrix.values.shape[1:] if matrix.values.ndim == 3 else (0, 0)
    square_grid = given.view == "grid" and math.isqrt(count) ** 2 == count
    if count >= _MANY and count > 4 * length and not square_grid:
        kind = "cells" if given.view == "grid" else "regions"
        raise InputError(
            f"{matrix.name}: an image would have {count:,} {kind} of {length} numbers. If it is "
            f"{length} of {count:,} numbers, write np.swapaxes(array, 1, 2)."
        )


def _vector(image: GivenImage, given: GivenOptions) -> NDArray[np.float32]:
    """The vector or grid of a whole image."""
    found: NDArray[np.float32] = image.vectors.astype(np.float32)
    return found.mean(axis=0) if given.mean else found


def _write_regions(
    rows: pd.DataFrame,
    file: GivenFile,
    whole: FeatureStore,
    given: GivenOptions,
    path: str | Path,
    files: Mapping[str, str],
) -> None:
    number = {image_id: place for place, image_id in enumerate(whole.rows["image_id"])}
    sizes = sizes_by_image(rows)
    known = iter(progress(sizes.itertuples(name=None), given.name, len(rows)))
    with FeatureWriter(path, REGION_FEATURES.bind(images=sizes), whole.shape, given.dtype, files=files) as writer:
        while some := list(islice(known, IMAGES_AT_ONCE)):
            tables, vectors = [], []
            for image_id, width, height in some:
                image = file.read(image_id, given.dtype)
                _check_shape(image.vectors.shape[1:], whole.shape, given, image_id)
                if image.size:
                    _check_size(image.size, (width, height), given, image_id)
                    sizes.loc[image_id] = image.size  # which stands for that of a picture that is not there
                boxes = _boxes(image, image.size or (width, height))
                tables.append(_columns(image_id, image, boxes, file.describe_regions(image_id, len(boxes))))
                vectors += [whole.gather([number[image_id]]).astype(np.float32), image.vectors]
            joined = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
            writer.append(pd.DataFrame(joined), np.concatenate(vectors))


def _check_shape(found: tuple[int, ...], expected: tuple[int, ...], given: GivenOptions, image_id: str) -> None:
    if found != expected:
        raise InputError(
            f"{given.name}: image {image_id!r} has vectors of the shape {found}, and whole images or the first image "
            f"have {expected}; give all of the same shape."
        )


def _check_size(stated: tuple[int, int], size: tuple[float, float], given: GivenOptions, image_id: str) -> None:
    """Raises `InputError` if boxes are of a picture of another size than the data set's, which may be unknown."""
    if size[0] > 0 and stated != size:
        raise InputError(
            f"{given.name}: says that image {image_id!r} has {stated[0]} x {stated[1]} pixels, and the picture "
            f"has {size[0]:.0f} x {size[1]:.0f}, so its boxes lie elsewhere; use the picture that the features are of, "
            "and write the width before the height."
        )


def _boxes(image: GivenImage, size: Sequence[float]) -> Boxes:
    """The boxes of the whole image and of its regions; unknown boxes have no area."""
    known = size[0] > 0
    whole = np.array([[0, 0, *(size if known else (0, 0))]], np.float32)
    if image.boxes is None:
        return np.concatenate([whole, np.zeros((len(image.vectors), 4), np.float32)])
    return np.concatenate([whole, clip_scored_boxes(image.boxes, *size) if known else image.boxes])


def _columns(image_id: str, image: GivenImage, boxes: Boxes, origin: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The columns of an image's regions, without their vectors."""
    unscored = np.full(len(image.vectors), np.inf, np.float32)
    return {
        "image_id": np.full(len(boxes), image_id, object),
        "rank": np.arange(len(boxes), dtype=np.int32),
        **dict(zip(BOX, boxes.T, strict=True)),
        "score": np.append(np.float32(np.inf), unscored if image.scores is None else image.scores),
        "class_name": np.array(["", *(image.classes or [""] * len(image.vectors))], object),
        ORIGIN: np.array(origin, object),
    }
