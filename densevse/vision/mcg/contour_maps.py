"""Contour maps of a shard of a data set: computed by a detector, or the user's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import CONTOURS
from densevse.artifacts.shards import remove_superseded, shard_slice
from densevse.datasets.images import ImageFiles, ImageSource, decode
from densevse.runtime.errors import InputError
from densevse.runtime.logs import progress
from densevse.runtime.numerics import set_up
from densevse.vision.mcg.contours import detector, resize, working_size


def find_contours(
    image_table: str,
    sources: Sequence[str],
    source_names: Sequence[str],
    model: str,
    options: Mapping[str, Any],
    threads: int,
    wildcards: Mapping[str, Any],
    output: str,
) -> None:
    """The job that finds the contour maps (CONTOURS) of a shard's images; see `contour_maps`."""
    set_up(threads)
    images = read(image_table, IMAGES)
    files = dict(zip(source_names, sources, strict=True))
    maps = contour_maps(images.iloc[shard_slice(wildcards["shard"], len(images))], files, model, options)
    write(maps, CONTOURS, output, lineage(options, {"images": image_table}))
    remove_superseded(output)


def read_own_contours(
    image_table: str, maps: str, options: Mapping[str, Any], wildcards: Mapping[str, Any], output: str
) -> None:
    """The job that reads the user's contour maps of a shard's images, in the folder `maps`; see `own_contour_maps`."""
    images = read(image_table, IMAGES)
    found = own_contour_maps(images.iloc[shard_slice(wildcards["shard"], len(images))], maps, options)
    write(found, CONTOURS, output, lineage({"contours": Path(maps).name, **options}, {"images": image_table}))
    remove_superseded(output)


def contour_maps(
    rows: pd.DataFrame, sources: Mapping[str, str], model: str, options: Mapping[str, Any]
) -> pd.DataFrame:
    """The contour maps (CONTOURS) of the readable images among rows of the image table, finest scale first.

    `model` is the detector's file; `options` are a proposer's: detector, scales, pixels, half_precision.
    """
    files, contours = ImageFiles(dict(sources)), detector(model, options)
    scales = sorted(options["scales"], reverse=True)
    readable = rows[rows["status"] == "ok"]
    found: list[tuple[str, float, bytes]] = []
    named = zip(readable["image_id"], readable["source"], readable["file"], strict=True)
    for image_id, source, file in progress(named, "contours", len(readable)):
        maps = contours.of(decode(files.read(source, file), file), scales, options["pixels"])
        found += [(image_id, scale, _png(one)) for scale, one in zip(scales, maps, strict=True)]
    return _maps_found(found)


def own_contour_maps(rows: pd.DataFrame, folder: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """The user's contour maps (CONTOURS) of the readable images among rows of the image table, finest first.

    A map is a grey picture, `<scale>/<file name without its ending>.png` in `folder`; it is resized to the size at
    which its image is processed. `options` are a proposer's: scales, pixels. Raises `InputError` that names a missing
    map.
    """
    readable, found = rows[rows["status"] == "ok"], []
    sizes = zip(readable["image_id"], readable["file"], readable["height"], readable["width"], strict=True)
    maps = ImageSource.open(folder)  # file systems may spell names differently from the photographs'
    for image_id, file, height, width in sizes:
        for scale in sorted(options["scales"], reverse=True):
            name = f"{scale:g}/{Path(file).stem}.png"
            data = maps.read(name) if name in maps else b""
            one = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE) if data else None
            if one is None:
                raise InputError(f"{folder}/{name}: not a grey picture; each image needs a contour map at each scale.")
            resized = resize(np.asarray(one, np.uint8), *working_size(height, width, options["pixels"]))
            found.append((image_id, scale, _png(resized)))
    return _maps_found(found)


def _maps_found(found: Sequence[tuple[str, float, bytes]]) -> pd.DataFrame:
    """The rows of CONTOURS for contour maps."""
    frame = pd.DataFrame(found, columns=["image_id", "scale", "picture"])
    return frame.astype({"image_id": "str", "scale": "float32"})


def _png(picture: NDArray[np.uint8]) -> bytes:
    return bytes(cv2.imencode(".png", picture)[1])
