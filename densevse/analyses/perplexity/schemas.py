"""The artifact of perplexity: the likelihood of each sentence given two images."""

from densevse.artifacts.columns import CAPTION_ID, IMAGE_ID
from snakeproof.schema import NUMBER, REAL, Column, Schema

LIKELIHOODS = Schema(
    "likelihoods",
    "a sentence of a split",
    (
        CAPTION_ID,
        IMAGE_ID,
        Column("predictions", NUMBER, "its words that the decoder predicts, and its end"),
        Column("right", REAL, "minus its log likelihood given v of its own image, nats"),
        Column("shuffled", REAL, "minus its log likelihood given v of an image of another family, nats"),
    ),
)
