"""The answers to each query of a retrieval."""

import pyarrow as pa

from snakeproof.schema import NUMBER, REALS, TEXT, TEXTS, Column, Schema

RETRIEVAL = Schema(
    "retrieval",
    "a query",
    (
        Column("fold", NUMBER, "which fold of the protocol, from 0"),
        Column("direction", TEXT, "i2t (an image asks for sentences) or t2i (a sentence asks for images)"),
        Column("query_id", TEXT, "the image_id or caption_id that asks"),
        Column("rank", NUMBER, "rank of its first true answer, from 1; ties count against it"),
        Column("tied", pa.bool_(), "whether a wrong candidate scores exactly as its best true answer"),
        Column("candidates", NUMBER, "how many candidates were ranked"),
        Column("top", TEXTS, "the best candidates' ids, best first: ten, or as many as the data set's `top`"),
        Column("top_scores", REALS, "their scores"),
        Column("top_true", pa.list_(pa.bool_()), "whether each is a true answer"),
    ),
    version=3,
)
