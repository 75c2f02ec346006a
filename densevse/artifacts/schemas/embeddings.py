"""Images, sentences and their parts in a trained model's space: files of densevse.artifacts.store."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import BOX_COLUMNS, NUMBER, TEXT

EMBEDDINGS = Schema(
    "embeddings",
    "an image, a sentence, or a part of one, in the space that they share",
    (
        Column("kind", TEXT, "image, sentence, region, phrase or word"),
        Column("image_id", TEXT, "the image that it is, or belongs to; empty for a word"),
        Column("caption_id", TEXT, "the caption of a sentence or phrase; empty for others"),
        Column("start", NUMBER, "index of the first token of a phrase in its caption; -1 for others"),
        Column("end", NUMBER, "index after its last token; -1 for others"),
        Column("rank", NUMBER, "rank in the region features, 0 for a whole image; -1 for other kinds"),
        Column("text", TEXT, "the words of a sentence, phrase or word; empty for an image or a region"),
        *(Column(column.name, column.type, f"{column.meaning}; 0 without a box") for column in BOX_COLUMNS),
    ),
)
