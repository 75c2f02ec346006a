"""Small kinds of files for tests."""

import pyarrow as pa

from snakeproof.schema import NUMBER, REAL, TEXT, TEXTS, Column, Schema

IMAGE_ID = Column("image_id", TEXT, "the image's name")
WORDS = Schema(
    "words",
    "a word of some sentences",
    (
        Column("index", NUMBER, "the word's number"),
        Column("word", TEXT, "the word, lower case"),
        Column("count", NUMBER, "occurrences in the sentences"),
    ),
)
CAPTIONS = Schema("captions", "a sentence", (IMAGE_ID, Column("text", TEXT, "the sentence")))
PARSES = Schema(
    "parses",
    "a sentence as a parser read it",
    (
        Column("tokens", TEXTS, "the tokens"),
        Column(
            "dependencies",
            pa.list_(pa.struct([pa.field("relation", TEXT, nullable=False), pa.field("governor", NUMBER)])),
            "relation and governor, -1 for the root",
        ),
        Column("others", TEXTS, "no tokens"),
    ),
)
VECTORS = Schema("vectors", "an image's vector or grid", (IMAGE_ID,), version=2)
BOXES = Schema(
    "boxes",
    "a box of an image and its vector",
    (IMAGE_ID, Column("rank", NUMBER, "0 for the whole image"), Column("x", REAL, "the left side, in pixels")),
)
