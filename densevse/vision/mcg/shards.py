"""MCG on a shard of a data set: contour maps as an artifact, and proposals from them."""

import multiprocessing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import loadmat

from densevse.artifacts.boxes import BOX
from densevse.datasets.images import ImageFiles, decode
from densevse.errors import InputError
from densevse.logs import progress
from densevse.vision.mcg.candidates import FEATURES
from densevse.vision.mcg.contours import Contours
from densevse.vision.mcg.forest import Forest, grow
from densevse.vision.mcg.hed import load_hed
from densevse.vision.mcg.proposing import propose


def contour_maps(
    rows: pd.DataFrame, sources: Mapping[str, str], weights: str | Path, options: Mapping[str, Any]
) -> pd.DataFrame:
    """The contour maps (CONTOURS) of the readable images among rows of the image table, finest scale first.

    `options` are a proposer's: scales, pixels, half_precision.
    """
    files, detector = ImageFiles(dict(sources)), Contours(load_hed(weights), options["half_precision"])
    scales = sorted(options["scales"], reverse=True)
    readable = rows[rows["status"] == "ok"]
    found: list[tuple[str, float, bytes]] = []
    named = zip(readable["image_id"], readable["source"], readable["file"], strict=True)
    for image_id, source, file in progress(named, "contours", len(readable)):
        maps = detector.of(decode(files.read(source, file), file), scales, options["pixels"])
        found += [(image_id, scale, _png(one)) for scale, one in zip(scales, maps, strict=True)]
    frame = pd.DataFrame(found, columns=["image_id", "scale", "picture"])
    return frame.astype({"image_id": "str", "scale": "float32"})


def proposals(
    rows: pd.DataFrame, contours: pd.DataFrame, forest: Forest, options: Mapping[str, Any], processes: int
) -> pd.DataFrame:
    """The proposals (PROPOSALS) of the images that have contour maps, best first, in the pixels of each image.

    `options` are a proposer's: candidates, superpixels, boxes. How many `processes` there are changes nothing.
    """
    sizes = rows.set_index("image_id")[["height", "width"]]
    tasks = [
        (image_id, list(group["picture"]), *sizes.loc[image_id], forest, dict(options))
        for image_id, group in contours.groupby("image_id", sort=False)
    ]
    frames = [_frame("", np.empty((0, 4), np.float32), np.empty(0, np.float32))]
    if tasks:
        context = multiprocessing.get_context("spawn")
        with context.Pool(min(processes, len(tasks))) as pool:
            frames += progress(pool.imap(_proposals_of, tasks), "MCG", len(tasks))
    return pd.concat(frames, ignore_index=True)


def sample_of_authors(path: str | Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The features (C, 16) and best Jaccards (C,) of MCG's published training sample, a MATLAB file.

    Raises `InputError` if it is none.
    """
    try:
        stored = loadmat(path, variable_names=["features", "jaccards"])
        features, jaccards = stored["features"].astype(np.float32), stored["jaccards"].astype(np.float32).ravel()
    except Exception as error:  # SciPy raises many kinds for a file that is cut or no MATLAB file
        raise InputError(f"{path}: not MCG's sample of candidates ({error!r}); get the file again.") from error
    if features.shape != (len(jaccards), len(FEATURES)):
        raise InputError(f"{path}: expected {len(FEATURES)} features a candidate, found {features.shape}.")
    return features, jaccards


def learn_ranker(path: str | Path, trees: int, leaf: int, seed: int) -> Forest:
    """The forest of MCG's published training sample."""
    return grow(*sample_of_authors(path), trees, leaf, seed)


def _proposals_of(task: tuple[str, Sequence[bytes], int, int, Forest, dict[str, Any]]) -> pd.DataFrame:
    image_id, pictures, height, width, forest, options = task
    cv2.setNumThreads(1)
    maps = [decoded(picture) for picture in pictures]
    found = propose(maps, options["candidates"], forest, options["superpixels"], options["boxes"])
    return _frame(image_id, found.boxes(int(height), int(width)), found.scores[found.boxed])


def _frame(image_id: str, boxes: NDArray[np.float32], scores: NDArray[np.float32]) -> pd.DataFrame:
    frame = pd.DataFrame(boxes, columns=BOX)
    frame.insert(0, "image_id", pd.Series([image_id] * len(frame), dtype="str"))
    frame.insert(1, "rank", np.arange(len(frame), dtype=np.int32))
    frame["score"], frame["class_name"] = scores, pd.Series([""] * len(frame), dtype="str")
    return frame


def _png(picture: NDArray[np.uint8]) -> bytes:
    return bytes(cv2.imencode(".png", picture)[1])


def decoded(picture: bytes) -> NDArray[np.uint8]:
    """The contour map of a row of CONTOURS."""
    return np.asarray(cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_GRAYSCALE), np.uint8)
