"""The training data of MCG's ranker."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import IMAGE_ID, REAL, REALS

CANDIDATES = Schema(
    "candidates",
    "a candidate of an image, drawn to learn the ranker from",
    (
        IMAGE_ID,
        Column("features", REALS, "the 16 figures of densevse.vision.mcg.candidates.FEATURES, in their order"),
        Column("jaccard", REAL, "its best Jaccard with an object of the image"),
    ),
)
