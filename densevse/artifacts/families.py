"""Families of images, and images that are the same file as others."""

import pandas as pd

from densevse.artifacts.schemas.datasets import IMAGES
from snakeproof import schema


def read_families(images: str) -> pd.Series:
    """The family of each image of an IMAGES artifact, by image_id."""
    return schema.read(images, IMAGES, ["image_id", "family"]).set_index("image_id")["family"]


def copies(images: pd.DataFrame, split: str, other: str) -> list[str]:
    """The ids of images of `split` with the same bytes as an image of the split `other`, or as another one of `split`.

    `images` are IMAGES rows; a missing image is no copy.
    """
    present = images[images["sha256"] != ""]
    own = present[present["split"] == split]
    if split == other:
        return list(own.loc[own["sha256"].duplicated(keep=False), "image_id"])
    return list(own.loc[own["sha256"].isin(present.loc[present["split"] == other, "sha256"]), "image_id"])
