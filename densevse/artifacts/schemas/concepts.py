"""How well the concepts of images are told."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import NUMBER, REAL, TEXT

AVERAGE_PRECISION = Schema(
    "average_precision",
    "a concept on a split",
    (
        Column("split", TEXT, "val or test"),
        Column("index", NUMBER, "the concept's number in concepts.parquet"),
        Column("concept", TEXT, "its lemma, lower case"),
        Column("kind", TEXT, "noun, adjective, verb or number"),
        Column("training_images", NUMBER, "how many training images have a sentence with it"),
        Column("images", NUMBER, "how many of the split's images have a sentence with it"),
        Column("frequency", REAL, "their share: the average precision of ranking by chance"),
        Column("average_precision", REAL, "by the best region of an image; null where no image has it", nullable=True),
        Column("average_precision_whole", REAL, "by the whole image alone; null where no image has it", nullable=True),
    ),
)
