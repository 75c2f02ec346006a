"""Heat maps of phrases in images."""

import pyarrow as pa

from densevse.artifacts.columns import IMAGE_ID
from snakeproof.schema import REAL, REALS, TEXT, Column, Schema

HEAT_MAPS = Schema(
    "heat_maps",
    "a phrase with a true box in an image",
    (
        IMAGE_ID,
        Column("phrase", TEXT, "the phrase, or the name of an object's class, in lower case"),
        Column(
            "heat",
            REALS,
            "the cells of a square grid over the image, line after line from the top left: the mean score of the "
            "windows that cover a cell's centre",
        ),
        Column("x", REAL, "the highest cell's centre, from the left edge, pixels; the mean of those that are equal"),
        Column("y", REAL, "the same from the top edge"),
        Column("right", pa.bool_(), "whether this place lies in one of the phrase's true boxes"),
        Column("centre_right", pa.bool_(), "whether the centre of the image does"),
        Column("box_share", REAL, "the share of the image that these boxes cover together, from 0 to 1"),
    ),
)
