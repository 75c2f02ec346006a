"""Protocols: which test images are ranked with which test sentences, in one fold or in several that are averaged."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.runtime.arrays import Indices, spaced_indices
from snakeproof.errors import InputError
from snakeproof.logs import logger

MOST = {"all": math.inf, "first_five": 5}
"""The largest number of sentences of an image that are ranked."""

NAMED = 1000
"""The images that first_1000 and random_1000 name."""


@dataclass(frozen=True)
class TestSet:
    """The readable images of a split in table order, and their sentences in the order of their images."""

    __test__ = False  # not a test case of pytest

    image_ids: NDArray[np.object_]  # (images,)
    caption_ids: NDArray[np.object_]  # (sentences,)
    image_of_caption: Indices  # (sentences,) ascending
    family_of_image: NDArray[np.object_]  # (images,) images of one family are alike: a bootstrap draws them together


@dataclass(frozen=True)
class Fold:
    """Rows of a test set that are ranked against each other."""

    images: Indices  # rising
    captions: Indices  # ascending; each one's image is among `images`


def select_split(images: pd.DataFrame, captions: pd.DataFrame, split: str = "test", sentences: str = "all") -> TestSet:
    """The readable images of `split` and their `sentences`: all, or first_five of each image.

    Raises `InputError` if there is no sentence.
    """
    kept = images[(images["split"] == split) & (images["status"] == "ok")]
    row_of_image = pd.Series(np.arange(len(kept)), index=kept["image_id"].to_numpy(dtype=object))
    asked = captions[captions["image_id"].isin(row_of_image.index) & (captions["position"] < MOST[sentences])]
    asked = asked.assign(row=row_of_image[asked["image_id"]].to_numpy()).sort_values(["row", "position"], kind="stable")
    if asked.empty:
        raise InputError(
            f"The {split} split has no readable image with a sentence; name images for it in the data set's `options` "
            "(splits, split, files, sizes; see docs/data_sets.md), and give them sentences."
        )
    return TestSet(
        kept["image_id"].to_numpy(dtype=object),
        asked["caption_id"].to_numpy(dtype=object),
        asked["row"].to_numpy(dtype=np.int64, copy=True),
        kept["family"].to_numpy(dtype=object),
    )


def subsample_test_set(test_set: TestSet, images: int) -> TestSet:
    """A test set of at most `images` images of another one that have a sentence, spaced evenly, with all theirs."""
    described = np.unique(test_set.image_of_caption)
    kept = described[spaced_indices(len(described), images)]
    asked = np.isin(test_set.image_of_caption, kept)
    return TestSet(
        test_set.image_ids[kept],
        test_set.caption_ids[asked],
        np.searchsorted(kept, test_set.image_of_caption[asked]),
        test_set.family_of_image[kept],
    )


def folds(test_set: TestSet, protocol: str) -> list[Fold]:
    """The folds of a protocol: full, five_folds, first_1000, random_1000 or hodosh.

    Raises `InputError` if a fold has no sentence.
    """
    found = _PROTOCOLS[protocol](test_set)
    if not all(len(fold.captions) for fold in found):
        there = test_set.image_ids.tolist()
        raise InputError(
            f"The protocol {protocol} needs at least {len(found)} readable images, with a sentence in each of as many "
            f"parts; the split has {len(there)}: {', '.join(map(str, there[:20]))}. Give it more, or measure it with "
            "the protocol full."
        )
    return found


def full(test_set: TestSet) -> list[Fold]:
    """One fold of all images and sentences, e.g. MS-COCO's 5,000 images (SCO, Table 5)."""
    return [_fold(test_set, 0, len(test_set.image_ids))]


def five_folds(test_set: TestSet) -> list[Fold]:
    """Fifths of the images in table order, whose metrics are averaged; on 5,000 images, 1,000 each (SCO, Table 4)."""
    images = len(test_set.image_ids)
    return [_fold(test_set, fold * images // 5, (fold + 1) * images // 5) for fold in range(5)]


def first_1000(test_set: TestSet) -> list[Fold]:
    """The first 1,000 images in table order (sm-LSTM, Table 2)."""
    return [_fold(test_set, 0, _thousand(test_set))]


def _thousand(test_set: TestSet) -> int:
    """The 1,000 images of a fold, or as many as there are, which a warning says."""
    found = min(NAMED, len(test_set.image_ids))
    if found < NAMED:
        logger.warning("the protocol names %s images, and the split has %s: all are ranked", f"{NAMED:,}", found)
    return found


def random_1000(test_set: TestSet) -> list[Fold]:
    """1,000 images drawn at random (HM-LSTM, section 5.1.2): those whose ids have the smallest checksums.

    The paper does not name its images. Ours are the same on every machine and with every version of a library.
    """
    checksums = [hashlib.sha256(str(name).encode()).digest() for name in test_set.image_ids]
    drawn = sorted(range(len(checksums)), key=checksums.__getitem__)[: _thousand(test_set)]
    images = np.array(sorted(drawn), dtype=np.int64)
    return [Fold(images, np.flatnonzero(np.isin(test_set.image_of_caption, images)))]


def hodosh(test_set: TestSet) -> list[Fold]:
    """The first sentence of each image only (DeFrag, Table 2, starred rows)."""
    first = np.unique(test_set.image_of_caption, return_index=True)[1]
    return [Fold(np.arange(len(test_set.image_ids)), first)]


_PROTOCOLS: dict[str, Callable[[TestSet], list[Fold]]] = {
    "full": full,
    "five_folds": five_folds,
    "first_1000": first_1000,
    "random_1000": random_1000,
    "hodosh": hodosh,
}


def join_folds(parts: Sequence[Fold]) -> Fold:
    """The images and sentences of some folds, each once."""
    images, captions = [part.images for part in parts], [part.captions for part in parts]
    return Fold(np.unique(np.concatenate(images)), np.unique(np.concatenate(captions)))


def _fold(test_set: TestSet, first: int, last: int) -> Fold:
    bounds = np.searchsorted(test_set.image_of_caption, [first, last])
    return Fold(np.arange(first, last), np.arange(*bounds))
