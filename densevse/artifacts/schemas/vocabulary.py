"""What is counted in the training sentences, and pre-trained vectors of their words."""

import pyarrow as pa

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import NUMBER, REAL, REALS, TEXT

WORDS = Schema(
    "words",
    "a word of the training sentences",
    (
        Column("index", NUMBER, "the word's number; 0 is padding, 1 the unknown word"),
        Column("word", TEXT, "the word, lower case"),
        Column("count", NUMBER, "occurrences in the training sentences"),
    ),
)

RELATIONS = Schema(
    "relations",
    "a typed dependency of the training sentences",
    (
        Column("index", NUMBER, "the relation's number"),
        Column("relation", TEXT, "its name"),
        Column("count", NUMBER, "occurrences in the training sentences"),
        Column("share", REAL, "share of all occurrences"),
    ),
)

WORD_VECTORS = Schema(
    "word_vectors",
    "a word's pre-trained vector",
    (
        Column("index", NUMBER, "the word's number in words.parquet"),
        Column("word", TEXT, "the word"),
        Column("found", pa.bool_(), "whether the vectors' file has the word; its vector is zero where not"),
        Column("vector", REALS, "the vector"),
    ),
)
