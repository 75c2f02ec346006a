"""Regions that a model aligns with the fragments of sentences (DeFrag)."""

from densevse.artifacts.schema import BOX_COLUMNS, CAPTION_ID, IMAGE_ID, NUMBER, REAL, TEXT, Column, Schema

TRIPLET = (
    Column("relation", TEXT, "the typed dependency"),
    Column("governor", TEXT, "the word that governs, lower case"),
    Column("dependent", TEXT, "the word that depends on it, lower case"),
)
REGION = (
    Column("region", NUMBER, "rank of the region in the region features; 0 is the whole image"),
    *BOX_COLUMNS,
    Column("score", REAL, "the inner product of the triplet's and the region's vectors"),
)

ALIGNMENTS = Schema(
    "alignments",
    "a triplet of a sentence with its best region of the image that it describes, or that ranks it first",
    (
        IMAGE_ID,
        CAPTION_ID,
        *TRIPLET,
        Column("governor_token", NUMBER, "index of the governing word in the sentence"),
        Column("dependent_token", NUMBER, "index of the dependent word in the sentence"),
        *REGION,
    ),
)

TRIPLET_REGIONS = Schema(
    "triplet_regions",
    "a region of the test images that is among the best of a triplet",
    (*TRIPLET, Column("sentences", NUMBER, "how many sentences of the split have the triplet"), IMAGE_ID, *REGION),
)
