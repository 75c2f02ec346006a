"""Sentences cut into words, once for all stages."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import CAPTION_ID, IMAGE_ID, SPLIT, TEXTS

TOKENS = Schema(
    "tokens",
    "a sentence of an image, cut into words",
    (
        CAPTION_ID,
        IMAGE_ID,
        SPLIT,
        Column("tokens", TEXTS, "its words and punctuation marks in lower case: see densevse.language.words"),
    ),
)
