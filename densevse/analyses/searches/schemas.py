"""Answers to the queries of searches."""

from densevse.artifacts.columns import IMAGE_ID
from snakeproof.schema import NUMBER, REAL, TEXT, TEXTS, Column, Schema

FOUND = Schema(
    "found",
    "an answer to a query of a search: a pair of an image and a sentence, of which one was asked and one found",
    (
        Column("query", NUMBER, "the number of the query, from 0"),
        Column("rank", NUMBER, "the rank of the answer, from 1; of equal scores the earlier in its table comes first"),
        IMAGE_ID,
        Column("caption_id", TEXT, "the caption of a data set, or #<number> of a sentence of the search's own"),
        Column("text", TEXT, "the sentence"),
        Column("unknown_words", TEXTS, "its words that the model does not know"),
        Column("score", REAL, "the model's score of the pair; higher is closer"),
    ),
)
