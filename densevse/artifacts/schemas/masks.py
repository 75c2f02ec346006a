"""Masks of objects and of proposals, and the overlap of the second with the first."""

import pyarrow as pa

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import IMAGE_ID, NUMBER, REAL, TEXT

_SIZE = (Column("height", NUMBER, "height of the mask, pixels"), Column("width", NUMBER, "width of the mask, pixels"))
RUNS = Column(
    "runs",
    pa.list_(NUMBER),
    "pixels outside, inside, outside ... in turn, column after column (MS-COCO's uncompressed run lengths)",
)

MASKS = Schema(
    "masks",
    "an object, by the pixels that it covers",
    (IMAGE_ID, Column("class_name", TEXT, "the class of the object"), *_SIZE, RUNS),
)

SEGMENTS = Schema(
    "segments",
    "a proposal, by the pixels that it covers",
    (
        IMAGE_ID,
        Column("rank", NUMBER, "position in the proposer's order, from 0; several may have one box"),
        Column("score", REAL, "the proposer's score, higher is better (no unit; falls with rank)"),
        *_SIZE,
        RUNS,
    ),
)

SEGMENT_OVERLAP = Schema(
    "segment_overlap",
    "a number of proposals of an image, compared with one of its objects",
    (
        IMAGE_ID,
        Column("object", NUMBER, "which of the image's masks, from 0"),
        Column("segments", NUMBER, "the number of proposals that are evaluated, in rank order; 0 means all of them"),
        Column("jaccard", REAL, "the best Jaccard of one of them with the object: pixels in both by pixels in either"),
    ),
)
