"""Measures proposers' seconds per image, step by step, in one process on a few images of a data set."""

from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import PROPOSAL_TIMES
from densevse.runtime.numerics import set_up
from densevse.vision.mcg.contours import detector
from densevse.vision.mcg.forest import load_ranker
from densevse.vision.mcg.proposing import propose
from densevse.vision.processes import Timer
from densevse.vision.selective_search import selective_search
from snakeproof.logs import progress
from snakeproof.schema import read, write

_IMAGES = 10
"""The number of measured images. The first is done once before, as the first run takes longer."""


def write_times_of_mcg(
    image_table: str,
    sources: Mapping[str, str],
    model: str,
    ranker: str,
    options: Mapping[str, Any],
    threads: int,
    output: str,
) -> None:
    """The job that measures the times of MCG by step (PROPOSAL_TIMES), on the first readable images of a data set.

    `model` is that of its contour detector. `options` are a proposer's: detector, scales, pixels, half_precision,
    candidates, superpixels, boxes.
    """
    set_up(threads)
    contours, ranked = detector(model, options), load_ranker(ranker)
    scales = sorted(options["scales"], reverse=True)

    def work(image_id: str, pixels: NDArray[np.uint8], timer: Timer) -> None:
        with timer.step("contours"):
            maps = contours.find_maps(pixels, scales, options["pixels"])
        forest = ranked.forest(image_id)
        propose(maps, options["candidates"], forest, options["superpixels"], options["boxes"], timer)

    found = _measure_times(image_table, sources, work)
    write(found, PROPOSAL_TIMES, output)


def write_times_of_search(
    image_table: str,
    sources: Mapping[str, str],
    options: Mapping[str, Any],
    output: str,
) -> None:
    """The job that measures the times of selective search (PROPOSAL_TIMES), on the first readable images of a data set.

    `options` are a proposer's: mode, height, minimum_side, boxes.
    """

    def work(_: str, pixels: NDArray[np.uint8], timer: Timer) -> None:
        with timer.step("search"):
            selective_search(
                pixels, options["mode"], options["height"], options["minimum_side"], options["boxes"], seed=0
            )

    found = _measure_times(image_table, sources, work)
    write(found, PROPOSAL_TIMES, output)


def _measure_times(
    image_table: str, sources: Mapping[str, str], work: Callable[[str, NDArray[np.uint8], Timer], None]
) -> pd.DataFrame:
    """PROPOSAL_TIMES rows of the steps of some work on an image."""
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    rows = read(image_table, IMAGES)
    files = Photographs(sources, rows)
    rows = rows[rows["status"] == "ok"][:_IMAGES]
    named = zip(rows["image_id"], rows["source"], rows["file"], strict=True)
    images = [(image_id, files.pixels(source, file)) for image_id, source, file in named]
    work(*images[0], Timer())
    timer = Timer()
    for image_id, pixels in progress(images, "timing", len(images)):
        work(image_id, pixels, timer)
    found = [(step, seconds / len(images), len(images)) for step, seconds in timer.seconds.items()]
    return pd.DataFrame(found, columns=["step", "seconds", "images"]).astype({"seconds": "float32", "images": "int32"})
