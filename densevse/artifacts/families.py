"""Families of images: variations of each other, which a bootstrap draws together."""

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES


def families_of(images: str) -> pd.Series:
    """The family of each image of an IMAGES artifact, by image_id."""
    return schema.read(images, IMAGES, ["image_id", "family"]).set_index("image_id")["family"]
