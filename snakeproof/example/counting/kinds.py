"""The kinds of files that the rules make."""

from snakeproof.schema import NUMBER, TEXT, Column, Schema

COUNTS = Schema(
    "counts",
    "one word of a text",
    (Column("word", TEXT, "in small letters"), Column("count", NUMBER, "occurrences in the text")),
)
CHART = Schema(
    "chart",
    "one word, the most frequent first",
    (
        Column("word", TEXT, "in small letters"),
        Column("count", NUMBER, "occurrences in all texts"),
        Column("bar", TEXT, "a bar as long as the share of the most frequent word's count"),
    ),
)
