"""Windows of images with their vectors, heat maps of phrases, and the accuracy of the maps' peaks."""

import pyarrow as pa

from densevse.artifacts.schema import BOX_COLUMNS, IMAGE_ID, NUMBER, REAL, REALS, TEXT, Column, Schema

POINTED = ("heat map", "centre", "chance")
"""Ways to point at a place: the peak of a heat map, the centre of the image, or a random place."""

WINDOW_FEATURES = Schema("window_features", "a window of an image: its box and vector", (IMAGE_ID, *BOX_COLUMNS))

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

LOCALISATION_ACCURACY = Schema(
    "localisation_accuracy",
    "a way to point at phrases",
    (
        Column("by", TEXT, f"what points: {', '.join(POINTED)}"),
        Column("phrases", NUMBER, "how many phrases there are; one in two images counts twice"),
        Column("images", NUMBER, "how many images they are in"),
        Column("accuracy", REAL, "the share of phrases of which it points into a true box, from 0 to 1"),
        Column("low", REAL, "the lower end of its 95% interval, by a bootstrap over families of images", nullable=True),
        Column("high", REAL, "the upper end", nullable=True),
        Column("gain", REAL, "the accuracy of heat maps less this one"),
        Column("gain_low", REAL, "the lower end of its paired 95% interval", nullable=True),
        Column("gain_high", REAL, "the upper end", nullable=True),
    ),
)
