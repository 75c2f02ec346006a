"""Training data of MCG's ranker: candidates with their best overlap with an object."""

from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.run_lengths import decode
from densevse.artifacts.schema import read_all
from densevse.artifacts.schemas.proposals import CANDIDATES
from densevse.runtime.errors import InputError
from densevse.vision.mcg.candidates import GroupedCandidates, members_of
from densevse.vision.mcg.forest import Ranker, fold, grow, save
from densevse.vision.mcg.hierarchy import Superpixels

DRAWN = 30
"""The number of candidates learned from in each image, beside the best for each object, as the authors do."""

_CHUNK = 2048
"""The number of candidates whose overlaps are computed at a time, which bounds memory."""


def overlaps(
    chosen: GroupedCandidates, superpixels: Superpixels, objects: Sequence[NDArray[np.bool_]]
) -> NDArray[np.float32]:
    """(C, O) the Jaccard of C candidates with the masks of O objects; a mask of another size is resized."""
    height, width = superpixels.labels.shape
    inside = np.zeros((len(superpixels), len(objects)), np.float32)
    for number, mask in enumerate(objects):
        resized = cv2.resize(mask.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
        inside[:, number] = np.bincount(superpixels.labels[resized > 0], minlength=len(superpixels))
    found = np.empty((len(chosen), len(objects)), np.float32)
    for start in range(0, len(chosen), _CHUNK):
        part = slice(start, start + _CHUNK)
        shared = members_of(chosen.bits[part], len(superpixels)).astype(np.float32) @ inside
        together = chosen.areas[part, None] + inside.sum(axis=0) - shared
        found[part] = shared / together
    return found


def objects_of(masks: pd.DataFrame) -> list[NDArray[np.bool_]]:
    """The masks (H, W) of rows of MASKS."""
    sizes = zip(masks["runs"], masks["height"], masks["width"], strict=True)
    return [decode(runs, height, width) for runs, height, width in sizes]


def draw(jaccards: NDArray[np.float32], seed: int) -> NDArray[np.int64]:
    """The candidates to learn from, given (C, O) Jaccards: the best for each object, and DRAWN random ones."""
    random = np.random.default_rng(seed)
    drawn = random.permutation(len(jaccards))[:DRAWN]
    return np.unique(np.concatenate([jaccards.argmax(axis=0), drawn]))


def learn_ranker_from_masks(
    samples: Sequence[str], masks: Mapping[str, Any], options: Mapping[str, Any], output: str
) -> None:
    """The job that learns a ranker from shards of CANDIDATES; see `learn_from_masks`.

    `masks` are a proposer's: the data set, the number of its shards and that of folds. Raises `InputError` if nothing
    is left to learn from.
    """
    ranker = learn_from_masks(read_all(samples, CANDIDATES), masks["folds"], options, seed=0)
    save(ranker, output, f"{masks['shards']} shards of {masks['dataset']}")


def learn_from_masks(sample: pd.DataFrame, folds: int, options: Mapping[str, Any], seed: int) -> Ranker:
    """Grows the ranker on rows of CANDIDATES: a forest for each fold, on the images of all others.

    `options` are a proposer's: trees, leaf. Raises `InputError` if nothing is left to learn from.
    """
    features, jaccards = np.stack(list(sample["features"])).astype(np.float32), sample["jaccard"].to_numpy(np.float32)
    of_row = np.array([fold(image_id, folds) for image_id in sample["image_id"]])
    if len(np.unique(of_row)) < 2:
        raise InputError("the ranker of MCG needs masks of images in two folds at least; learn from more shards.")
    return Ranker(
        [
            grow(features[of_row != left], jaccards[of_row != left], options["trees"], options["leaf"], seed)
            for left in range(folds)
        ]
    )
