"""Schemas of boxes that may hold an object: proposals, and the contours, masks and rankers of MCG.

Masks are stored as run lengths, MS-COCO's uncompressed form: numbers of pixels alternately outside and inside, column
by column. The first run is outside, and may be empty.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX, Problems, are_mostly_outside, find_form_problems, image_sizes
from densevse.artifacts.columns import BOX_COLUMNS, IMAGE_ID
from snakeproof.schema import NUMBER, REAL, REALS, TEXT, Column, Rule, Schema


def find_mostly_outside(rows: pd.DataFrame, images: pd.DataFrame | None) -> Problems:
    """The scored boxes of which less than half of the area lies in their image, or without any. A rule of artifacts."""
    boxes, sizes = rows[BOX].to_numpy(np.float64), image_sizes(rows, images)
    return {
        "a number of its box or its score is not finite": ~(
            np.isfinite(boxes).all(axis=1) & np.isfinite(rows["score"].to_numpy(np.float64))
        ),
        "less than half of its box's area lies in the image; a box is in pixels from the top left corner, of the "
        "picture of the data set": are_mostly_outside(boxes, np.nan_to_num(sizes, nan=np.inf)),
    }


def find_repeated_detections(rows: pd.DataFrame) -> Problems:
    """The boxes that a class has twice in an image. Two classes may have one box. A rule of artifacts."""
    repeated = rows.duplicated(["image_id", "class_name", *BOX]) & (rows["class_name"] != "")
    return {"its class has this box twice in the image; keep one": repeated.to_numpy()}


PROPOSALS = Schema(
    "proposals",
    "a box that may hold an object",
    (
        IMAGE_ID,
        Column("rank", NUMBER, "position in the proposer's order, from 0"),
        *BOX_COLUMNS,
        Column("score", REAL, "the proposer's score, higher is better (no unit; falls with rank)"),
        Column("class_name", TEXT, "the class of a detection; empty where the proposer knows none"),
    ),
    version=2,
    rules=(
        Rule(find_form_problems, ("images",)),
        Rule(find_mostly_outside, ("images",)),
        Rule(find_repeated_detections),
    ),
    context={"images": None},  # unless a writer knows them
)

BOX_COUNTS = (100, 300, 500, 1000, 0)
"""The numbers of boxes of each image that are evaluated, in rank order; 0 means all of them."""

PROPOSAL_TIMES = Schema(
    "proposal_times",
    "a step of a proposer",
    (
        Column("step", TEXT, "what is done"),
        Column("seconds", REAL, "seconds per image, mean, in one process of one thread"),
        Column("images", NUMBER, "how many images were measured"),
    ),
)


CONTOURS = Schema(
    "contours",
    "the contour map of an image at one scale",
    (
        IMAGE_ID,
        Column("scale", REAL, "how many times the image's sides were when contours were looked for"),
        Column("picture", pa.binary(), "a grey PNG: the strength of the contour through each pixel, 0 to 255"),
    ),
)


def find_wrong_masks(rows: pd.DataFrame, images: pd.DataFrame) -> Problems:
    """The masks without a pixel, or of another size than their image; `images` are IMAGES rows. A rule of artifacts."""
    sizes = image_sizes(rows, images)
    other = (sizes != rows[["width", "height"]].to_numpy()).any(axis=1) & ~np.isnan(sizes).any(axis=1)
    empty = np.array([not np.sum(runs[1::2]) for runs in rows["runs"]], dtype=bool)
    return {"its mask has no pixel": empty, "its mask is of another size than its image": other}


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
    rules=(Rule(find_wrong_masks, ("images",)),),
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


CANDIDATES = Schema(
    "candidates",
    "a candidate of an image, drawn to learn the ranker from",
    (
        IMAGE_ID,
        Column("features", REALS, "the 16 figures of densevse.vision.mcg.candidates.FEATURES, in their order"),
        Column("jaccard", REAL, "its best Jaccard with an object of the image"),
    ),
)


Runs = NDArray[np.int32]


def run_lengths(mask: NDArray[np.bool_]) -> Runs:
    """The runs of a mask (H, W)."""
    flat = mask.ravel(order="F")
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    begins = [0, 0] if flat[0] else [0]
    return np.diff([*begins, *changes, flat.size]).astype(np.int32)


def runs_to_mask(runs: Runs, height: int, width: int) -> NDArray[np.bool_]:
    """The mask (height, width) of runs that cover it. Raises `ValueError` if they do not."""
    inside = np.arange(len(runs)) % 2 == 1
    return np.repeat(inside, runs).reshape((height, width), order="F")
