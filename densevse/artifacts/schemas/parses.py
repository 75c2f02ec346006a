"""Sentences as a parser analysed them."""

import pyarrow as pa

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import CAPTION_ID, IMAGE_ID, NUMBER, TEXT, TEXTS

DEPENDENCIES = pa.list_(
    pa.struct(
        [
            pa.field("relation", TEXT, nullable=False),
            pa.field("governor", NUMBER, nullable=False),
            pa.field("dependent", NUMBER, nullable=False),
        ]
    )
)

DEPENDENCY_MEANING = "relation, governor and dependent token index from 0; the root's governor is -1"

PARSES = Schema(
    "parses",
    "a sentence as the parser read it",
    (
        CAPTION_ID,
        IMAGE_ID,
        Column("text", TEXT, "the caption's text"),
        Column("status", TEXT, "ok, or why the sentence could not be parsed (the other columns are then empty)"),
        Column("tokens", TEXTS, "tokens as written"),
        Column("lemmas", TEXTS, "the lemma of each token"),
        Column("tags", TEXTS, "a Penn Treebank part-of-speech tag a token"),
        Column("tree", TEXT, "constituency tree in Penn bracket notation, brackets in words as -LRB- and -RRB-"),
        Column("basic_dependencies", DEPENDENCIES, DEPENDENCY_MEANING),
        Column("enhanced_dependencies", DEPENDENCIES, DEPENDENCY_MEANING),
    ),
)
