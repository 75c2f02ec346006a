"""Contour maps: the strength of contours at each pixel of an image, at several scales.

A map gives for each pixel the strength, from 0 to 255, of the contour through it. HED computes it
(densevse.vision.mcg.hed), on a GPU if there is one; or OpenCV's structured edges, with a model file of the user's.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pandas as pd
import torch

from densevse.artifacts.archives import Archive
from densevse.artifacts.file_names import names_by_key
from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import CONTOURS
from densevse.artifacts.shards import remove_old_shards, shard_slice
from densevse.runtime.numerics import device, set_up
from densevse.vision.crops import Pixels, resize
from densevse.vision.mcg.hed import HED, load_hed
from snakeproof.errors import InputError
from snakeproof.logs import progress
from snakeproof.schema import read, write


class Contours(ABC):
    """A detector of contours in images of at least `smallest` x `smallest` pixels."""

    smallest: int

    def find_maps(self, image: Pixels, scales: Sequence[float], most_pixels: int) -> list[Pixels]:
        """The contour maps (h, w) of an RGB image (H, W, 3), one for each scale, all of one size.

        The size is the image's, reduced to at most `most_pixels`, which bounds memory and time. For each scale the
        image is resized to that many times this size.
        """
        height, width = working_size(image.shape[0], image.shape[1], most_pixels)
        found = []
        for scale in scales:
            sides = max(1, round(height * scale)), max(1, round(width * scale))
            found.append(resize(self._pad_and_map(resize(image, *sides)), height, width))
        return found

    def _pad_and_map(self, image: Pixels) -> Pixels:
        """The map of a small image, whose sides are padded with its edge pixels to the smallest size."""
        height, width = image.shape[:2]
        missing = ((0, max(0, self.smallest - height)), (0, max(0, self.smallest - width)), (0, 0))
        return self.map(np.pad(image, missing, mode="edge"))[:height, :width]

    @abstractmethod
    def map(self, image: Pixels) -> Pixels:
        """The contour map (H, W) of an RGB image (H, W, 3)."""


class HEDContours(Contours):
    """HED on the best device. With `half_precision` its convolutions compute in bf16."""

    smallest = 16  # it halves an image four times

    def __init__(self, network: HED, half_precision: bool) -> None:
        self.device = device()
        dtype = torch.bfloat16 if half_precision else torch.float32
        for layer in [*network.stages, *network.sides]:
            layer.to(dtype=dtype, memory_format=torch.channels_last)
        self.network = network.to(self.device)

    def map(self, image: Pixels) -> Pixels:
        """The network's probabilities, from 0 to 255."""
        with torch.inference_mode():
            pixels = torch.from_numpy(image).permute(2, 0, 1)[None]
            batch = pixels.to(self.device).float().to(memory_format=torch.channels_last)
            return np.asarray((255 * self.network(batch)[0]).round().to(torch.uint8).cpu())


class StructuredEdges(Contours):
    """OpenCV's structured forests (Dollar and Zitnick, ICCV 2013), which MCG's authors also use.

    `model` is a file that OpenCV reads, such as model.yml.gz of opencv_extra. Raises `InputError` if it is not: OpenCV
    itself would end the process if numbers are missing.
    """

    smallest = 64  # a patch of 32 pixels must fit at the smallest of the model's scales

    def __init__(self, model: str | Path) -> None:
        try:
            stored = cv2.FileStorage(str(model), cv2.FILE_STORAGE_READ)  # its nodes are freed with it
            options = stored.getNode("options")
            missing = [name for name in POSITIVE if options.empty() or not options.getNode(name).real() > 0]
        except (cv2.error, SystemError) as error:
            raise InputError(f"{model}: not a model of OpenCV's structured edges ({error}).") from error
        if missing:
            raise InputError(f"{model}: not a model of OpenCV's structured edges, as it lacks {', '.join(missing)}.")
        self.forest = cv2.ximgproc.createStructuredEdgeDetection(str(model))

    def map(self, image: Pixels) -> Pixels:
        """The forest's edges, from 0 to 255."""
        strength = self.forest.detectEdges(image.astype(np.float32) / 255)
        return np.clip(255 * strength, 0, 255).round().astype(np.uint8)


POSITIVE = (
    "numberOfGradientOrientations",
    "numberOfTrees",
    "numberOfTreesToEvaluate",
    "patchInnerSize",
    "patchSize",
    "selfsimilarityGridSize",
    "shrinkNumber",
    "stride",
)
"""The options that a model of structured edges must have."""


def detector(model: str | Path, options: Mapping[str, Any]) -> Contours:
    """The detector of a model file. `options` are a proposer's: detector, half_precision."""
    if options["detector"] == "structured_edges":
        return StructuredEdges(model)
    return HEDContours(load_hed(model), options["half_precision"])


def working_size(height: int, width: int, most_pixels: int) -> tuple[int, int]:
    """The working size of an image of `height` x `width`: the same shape with at most `most_pixels`."""
    shrink = min(1.0, (most_pixels / (height * width)) ** 0.5)
    return max(1, round(height * shrink)), max(1, round(width * shrink))


# --- the contour maps of a shard ---------------------------------------------------------------------------------


def find_contours(
    image_table: str,
    sources: Mapping[str, str],
    model: str,
    options: Mapping[str, Any],
    threads: int,
    wildcards: Mapping[str, Any],
    output: str,
) -> None:
    """The job that finds the contour maps (CONTOURS) of a shard's images; see `contour_maps`."""
    set_up(threads)
    images = read(image_table, IMAGES)
    maps = contour_maps(images.iloc[shard_slice(wildcards["shard"], len(images))], sources, model, options)
    write(maps, CONTOURS, output)
    remove_old_shards(output)


def read_own_contours(
    image_table: str, maps: str, options: Mapping[str, Any], wildcards: Mapping[str, Any], output: str
) -> None:
    """The job that reads the user's contour maps of a shard's images, in the folder `maps`; see `own_contour_maps`."""
    images = read(image_table, IMAGES)
    names_by_key(
        ((Path(file).stem, image) for image, file in zip(images["image_id"], images["file"], strict=True)), maps
    )
    found = own_contour_maps(images.iloc[shard_slice(wildcards["shard"], len(images))], maps, options)
    write(found, CONTOURS, output)
    remove_old_shards(output)


def contour_maps(
    rows: pd.DataFrame, sources: Mapping[str, str], model: str, options: Mapping[str, Any]
) -> pd.DataFrame:
    """The contour maps (CONTOURS) of the readable images among rows of the image table, finest scale first.

    `model` is the detector's file; `options` are a proposer's: detector, scales, pixels, half_precision.
    """
    files, contours = Photographs(sources, rows), detector(model, options)
    scales = sorted(options["scales"], reverse=True)
    readable = rows[rows["status"] == "ok"]
    found: list[tuple[str, float, bytes]] = []
    named = zip(readable["image_id"], readable["source"], readable["file"], strict=True)
    for image_id, source, file in progress(named, "contours", len(readable)):
        maps = contours.find_maps(files.pixels(source, file), scales, options["pixels"])
        found += [(image_id, scale, _png(one)) for scale, one in zip(scales, maps, strict=True)]
    return _contour_rows(found)


def own_contour_maps(rows: pd.DataFrame, folder: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """The user's contour maps (CONTOURS) of the readable images among rows of the image table, finest first.

    A map is a grey picture, `<scale>/<file name without its ending>.png` in `folder`; it is resized to the size at
    which its image is processed. `options` are a proposer's: scales, pixels. Raises `InputError` that names a missing
    map.
    """
    readable, found = rows[rows["status"] == "ok"], []
    sizes = zip(readable["image_id"], readable["file"], readable["height"], readable["width"], strict=True)
    maps = Archive.open(folder)  # file systems may spell names differently from the photographs'
    for image_id, file, height, width in sizes:
        for scale in sorted(options["scales"], reverse=True):
            name = f"{scale:g}/{Path(file).stem}.png"
            data = maps.read(name) if name in maps else b""
            one = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE) if data else None
            if one is None:
                raise InputError(f"{folder}/{name}: not a grey picture; each image needs a contour map at each scale.")
            resized = resize(np.asarray(one, np.uint8), *working_size(height, width, options["pixels"]))
            found.append((image_id, scale, _png(resized)))
    return _contour_rows(found)


def _contour_rows(found: Sequence[tuple[str, float, bytes]]) -> pd.DataFrame:
    """The rows of CONTOURS for contour maps."""
    frame = pd.DataFrame(found, columns=["image_id", "scale", "picture"])
    return frame.astype({"image_id": "str", "scale": "float32"})


def _png(picture: Pixels) -> bytes:
    return bytes(cv2.imencode(".png", picture)[1])
