"""New splits of a data set, drawn at random from all of its images: a method's gain on one split may be luck.

The images stay what they were, so that their features and the parses of their sentences are those of the data set.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.datasets.layout import by_split, captions_of
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

HELD_OUT_FIRST = ("test", "val", "train")
"""In the order in which they are drawn, so that more training images leave the others as they are."""


def resplit(images: pd.DataFrame, captions: pd.DataFrame, draw: Mapping[str, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The image table and the caption table with random splits; `draw` has their seed and sizes.

    Only readable images are drawn, and the others are left out. All images of a family fall into one split, so that a
    split may exceed its size. Raises `InputError` if there are too few images.
    """
    readable = images[images["status"] == "ok"]
    sizes = readable.groupby("family", sort=False).size()
    shuffled = np.random.default_rng(draw["seed"]).permutation(len(sizes))
    ends = np.cumsum(sizes.to_numpy()[shuffled])
    first, of_family = 0, dict[str, str]()
    for split in HELD_OUT_FIRST:
        drawn = ends[first - 1] if first else 0
        last = first + int(np.searchsorted(ends[first:], drawn + draw[split]))
        if last >= len(ends):
            wanted = ", ".join(f"{draw[name]:,} of {name}" for name in HELD_OUT_FIRST)
            raise InputError(
                f"resplit: {wanted} are asked for, and {len(readable):,} images can be read; ask for less."
            )
        of_family |= dict.fromkeys(sizes.index[shuffled[first : last + 1]], split)
        first = last + 1
    drawn_images = by_split(readable.assign(split=readable["family"].map(of_family)).dropna(subset="split"))
    return drawn_images, captions_of(drawn_images, captions)


def write_resplit(
    image_table: str,
    caption_table: str,
    draw: Mapping[str, int],
    images: str,
    captions: str,
    wildcards: Mapping[str, str],
) -> None:
    """The job that draws new splits of a data set: `resplit` of its tables, written as the two of another data set."""
    drawn_images, drawn_captions = resplit(schema.read(image_table, IMAGES), schema.read(caption_table, CAPTIONS), draw)
    by_name = drawn_images["split"].value_counts(sort=False).to_dict()
    logger.info("images by split: %s; captions: %d", by_name, len(drawn_captions))
    made_from = lineage(draw, {"images": image_table, "captions": caption_table})
    identity = Identity.of(wildcards)
    schema.write(drawn_images, IMAGES, images, made_from, identity)
    schema.write(drawn_captions, CAPTIONS, captions, made_from, identity)
