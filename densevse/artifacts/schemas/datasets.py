"""The image table, the captions and the true boxes of a data set."""

import pandas as pd
import pyarrow as pa

from densevse.artifacts.boxes import find_form_problems, find_outside, find_repeated
from densevse.artifacts.columns import BOX_COLUMNS, CAPTION_ID, IMAGE_ID, SPLIT
from densevse.artifacts.sentences import find_lists
from snakeproof.schema import NUMBER, TEXT, Column, Rule, Schema


def find_other_sides(rows: pd.DataFrame, sides: tuple[int, int] | None) -> dict[str, pd.Series]:
    """The pictures with a side that is not within the `sides` that their data set states. A rule of artifacts."""
    if sides is None:
        return {}
    problem = f"a side is not within {sides[0]} and {sides[1]} pixels, as the data set's `sides` say; correct these"
    size = rows[["width", "height"]]
    return {problem: (rows["status"] == "ok") & ((size < sides[0]) | (size > sides[1])).any(axis=1)}


IMAGES = Schema(
    "images",
    "an image",
    (
        IMAGE_ID,
        Column("source", TEXT, "the data set's source (a key of its config) that holds the file"),
        Column("file", TEXT, "the file's path inside that source"),
        SPLIT,
        Column("width", NUMBER, "width of the upright image, pixels; 0 where there is no picture to read"),
        Column("height", NUMBER, "height of the upright image, pixels; 0 where there is no picture to read"),
        Column("sha256", TEXT, "checksum of the file's bytes; empty where there is none"),
        Column("captions", NUMBER, "how many captions it has"),
        Column("family", TEXT, "images that are variations of each other share it; the image_id where there are none"),
        Column("status", TEXT, "ok, or why the image cannot be read (only images that the config knows of)"),
    ),
    version=2,
    rules=(Rule(find_other_sides, needs=("sides",)),),
    context={"sides": None},
)

CAPTIONS = Schema(
    "captions",
    "a sentence of an image",
    (
        CAPTION_ID,
        IMAGE_ID,
        Column("position", NUMBER, "which sentence of its image, from 0"),
        Column("text", TEXT, "the sentence as published, white space trimmed"),
        SPLIT,
        Column("sentid", pa.int64(), "MS-COCO's number of its annotation; null in other data sets", nullable=True),
    ),
    version=2,
    rules=(Rule(find_lists),),
)

BOXES = Schema(
    "boxes",
    "a true box: an object's, or what a phrase of a caption names",
    (
        IMAGE_ID,
        Column("caption_id", TEXT, "the caption whose phrase names it; empty for a box without caption"),
        Column("phrase", TEXT, "the phrase (its words, space separated), or the object's class name"),
        Column("start", NUMBER, "index of the phrase's first token in its caption; -1 without caption"),
        Column("end", NUMBER, "index after the phrase's last token; -1 without caption"),
        *BOX_COLUMNS,
    ),
    rules=(Rule(find_form_problems, ("images",)), Rule(find_outside, ("images",)), Rule(find_repeated)),
)
