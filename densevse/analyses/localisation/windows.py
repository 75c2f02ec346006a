"""Windows of images at several scales, each read by a network like a separate image."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import cv2
import numpy as np
import pandas as pd

from densevse.artifacts.boxes import BOX, Boxes
from densevse.artifacts.columns import BOX_COLUMNS, IMAGE_ID
from densevse.artifacts.images import Photographs
from densevse.artifacts.phrase_boxes import named_boxes
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.runtime.ahead import prefetch_results
from densevse.runtime.arrays import spaced_indices
from densevse.runtime.numerics import set_up
from densevse.vision.crops import Pixels
from densevse.vision.extract import NetworkFiles, batch_size, blank_batch, decoding_threads, features
from densevse.vision.networks import Network
from densevse.vision.views import load_extraction
from snakeproof.errors import InputError
from snakeproof.logs import progress
from snakeproof.schema import Schema, read
from snakeproof.store import FeatureWriter

WINDOW_FEATURES = Schema("window_features", "a window of an image: its box and vector", (IMAGE_ID, *BOX_COLUMNS))


def extract_windows(
    image_table: str,
    boxes: str,
    sources: Mapping[str, str],
    network: Mapping[str, Any],
    weights: str,
    chosen: Mapping[str, Any],
    output: str,
    wildcards: Mapping[str, str],
    threads: int,
    precision: str | None = None,
) -> None:
    """The job that writes the features of windows of test images with true boxes (WINDOW_FEATURES).

    `chosen` has the number of `images`, evenly spaced, and the `sides` and `stride` of their windows (see `windows`);
    `network`, `weights` and `precision` are as in `NetworkFiles`. Raises `InputError` if no test image has a box, or if
    an image is unreadable.
    """
    set_up(threads)
    view = wildcards["view"]
    network_files = NetworkFiles(wildcards["network"], network, weights, precision)
    rows = _select_images(read(image_table, IMAGES), read(boxes, BOXES), chosen["images"])
    if rows.empty:
        raise InputError(f"{boxes}: no readable test image of {image_table} has a named true box.")
    loaded = network_files.load()
    shape, size = features(loaded, blank_batch(loaded, view)[:1], view).shape[1:], batch_size(loaded, view)
    cv2.setNumThreads(1)  # these threads are for reading
    files = Photographs(sources, rows)
    look = partial(_crop_windows, files=files, view=view, network=loaded, chosen=chosen)
    with (
        ThreadPoolExecutor(decoding_threads()) as pool,
        FeatureWriter(output, WINDOW_FEATURES, shape, network_files.dtype, **network_files.findings()) as writer,
    ):
        named = zip(rows["image_id"], rows["source"], rows["file"], strict=True)
        for image_id, found, pixels in progress(
            prefetch_results(pool, look, named, decoding_threads()), "windows of images", len(rows)
        ):
            batches = (pixels[start : start + size] for start in range(0, len(pixels), size))
            vectors = np.concatenate([features(loaded, part, view) for part in batches])
            writer.append(pd.DataFrame(found, columns=BOX).assign(image_id=image_id), vectors)


def windows(width: int, height: int, sides: Sequence[float], stride: float) -> Boxes:
    """Square windows (n, 4) that cover an image of `width` x `height` pixels at each scale, in whole pixels.

    `sides` are shares of the shorter side. The step from a window to the next is at most `stride` times its side: the
    first and the last of a line touch the edges, and the others are evenly spaced between them.
    """
    found: list[tuple[int, int, int, int]] = []
    for share in sides:
        side = max(1, round(share * min(width, height)))
        x, y = (_window_starts(length, side, stride) for length in (width, height))
        found += [(left, top, side, side) for top, left in product(y, x)]
    return np.array(found, np.float32)


def _window_starts(length: int, side: int, stride: float) -> list[int]:
    count = 1 + math.ceil((length - side) / (stride * side))
    return [round(place) for place in np.linspace(0, length - side, count)]


def _select_images(images: pd.DataFrame, boxes: pd.DataFrame, count: int) -> pd.DataFrame:
    """At most `count` readable test images, evenly spaced among those with a named box."""
    usable = (images["split"] == "test") & (images["status"] == "ok")
    rows = images[usable & images["image_id"].isin(named_boxes(boxes)["image_id"])]
    return rows.iloc[spaced_indices(len(rows), count)]


def _crop_windows(
    named: tuple[str, str, str], files: Photographs, view: str, network: Network, chosen: Mapping[str, Any]
) -> tuple[str, Boxes, Pixels]:
    """An image's id, its windows (n, 4), and their crops (n, crops, size, size, 3)."""
    image_id, source, file = named
    pixels, looked_at = files.pixels(source, file), load_extraction(view)
    found = windows(pixels.shape[1], pixels.shape[0], chosen["sides"], chosen["stride"])
    of_window = [network.crops(pixels[y : y + side, x : x + side], looked_at) for x, y, side, _ in found.astype(int)]
    return image_id, found, np.stack(of_window)
