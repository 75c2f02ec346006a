"""Vector arithmetic with images and words (Kiros et al. 2014): answers and their accuracy."""

import pyarrow as pa

from densevse.artifacts.schema import IMAGE_ID, NUMBER, REAL, TEXT, Column, Schema

BY = ("arithmetic", "image", "word")
"""The vectors of the queries: image - word + word; the image alone; the added word alone."""

NAMED = "named"
"""The kind of a query that the configuration names; other kinds are named after the exchanged words."""

ARITHMETIC = Schema(
    "arithmetic",
    "an image that is found for an image less a word plus a word",
    (
        IMAGE_ID,
        Column("kind", TEXT, "which words are exchanged, e.g. colour; `named` for a query of the configuration"),
        Column("minus", TEXT, "the word that is taken away"),
        Column("plus", TEXT, "the word that is added"),
        Column("by", TEXT, "the vector that is searched with: arithmetic, image (alone) or word (the added one alone)"),
        Column("rank", NUMBER, "from 1; the query's own image is not ranked"),
        Column("found", TEXT, "the image of this rank"),
        Column("score", REAL, "the cosine of its vector and the one that is searched with"),
        Column("right", pa.bool_(), "whether it shows the object with the word exchanged; null where unknown", True),
        Column("all_right", NUMBER, "how many of the ranked images do; -1 where unknown"),
        Column("ranked", NUMBER, "how many images are ranked"),
    ),
)

ARITHMETIC_ACCURACY = Schema(
    "arithmetic_accuracy",
    "a way to search for images, on all queries that exchange words of one kind",
    (
        Column("kind", TEXT, "which words are exchanged"),
        Column("by", TEXT, "the vector that is searched with"),
        Column("first", NUMBER, "k: a query counts where one of the first k images is right"),
        Column("queries", NUMBER, "how many queries there are"),
        Column("accuracy", REAL, "the share of queries that count, from 0 to 1"),
        Column("low", REAL, "the lower end of its 95% interval, by a bootstrap over families of images", nullable=True),
        Column("high", REAL, "the upper end", nullable=True),
        Column("chance", REAL, "the accuracy of images in random order"),
        Column("gain", REAL, "the accuracy of the arithmetic less this one"),
        Column("gain_low", REAL, "the lower end of its paired 95% interval", nullable=True),
        Column("gain_high", REAL, "the upper end", nullable=True),
    ),
)
