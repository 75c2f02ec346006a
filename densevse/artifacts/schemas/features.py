"""Features of images and regions: files of densevse.artifacts.store, with a further column `vector`."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import BOX_COLUMNS, IMAGE_ID, NUMBER, REAL, TEXT

IMAGE_FEATURES = Schema("image_features", "an image's vector or grid", (IMAGE_ID,), version=2)

REGION_FEATURES = Schema(
    "region_features",
    "a region of an image: its box and vector; rank 0 is the whole image; a box that is not known has no area",
    (
        IMAGE_ID,
        Column("rank", NUMBER, "0 for the whole image, then detections by descending score"),
        *BOX_COLUMNS,
        Column("score", REAL, "the detection's class score; infinite where it is not known"),
        Column("class_name", TEXT, "the detection's class; empty for the whole image"),
    ),
    version=2,
)
