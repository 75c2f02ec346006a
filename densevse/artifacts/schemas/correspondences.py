"""Phrases with the regions that a model assigns to them."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import BOX_COLUMNS, CAPTION_ID, IMAGE_ID, NUMBER, REAL, TEXT

CORRESPONDENCES = Schema(
    "correspondences",
    "a noun phrase of a caption with the region it is assigned to",
    (
        CAPTION_ID,
        IMAGE_ID,
        Column("phrase", TEXT, "the phrase's words"),
        Column("start", NUMBER, "index of its first token in the caption"),
        Column("end", NUMBER, "index after its last token"),
        Column("region", NUMBER, "rank of the region in the region features"),
        *BOX_COLUMNS,
        Column(
            "confidence", REAL, "similarity of phrase and region, s_ij of section 3.3; or its lead over the next region"
        ),
    ),
)

CORRESPONDENCE_ACCURACY = Schema(
    "correspondence_accuracy",
    "a way to choose a region for a phrase",
    (
        Column("choice", TEXT, "learned, whole image, chance, or best possible"),
        Column("accuracy", REAL, "share of phrases whose box overlaps a true one by at least 0.5"),
        Column("overlap", REAL, "mean best intersection over union with a true box of the phrase"),
        Column("phrases", NUMBER, "how many phrases, or triplets within a phrase, have a true box"),
    ),
)
