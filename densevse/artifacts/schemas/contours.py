"""Contour maps of images."""

import pyarrow as pa

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import IMAGE_ID, REAL

CONTOURS = Schema(
    "contours",
    "the contour map of an image at one scale",
    (
        IMAGE_ID,
        Column("scale", REAL, "how many times the image's sides were when contours were looked for"),
        Column("picture", pa.binary(), "a grey PNG: the strength of the contour through each pixel, 0 to 255"),
    ),
)
