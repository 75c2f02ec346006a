"""Regions that a model aligns with the triplets of sentences (DeFrag), and the accuracy of those with known true boxes.

A triplet is judged if both of its words belong to one phrase with a true box ("red" and "circle" in "a red circle").
Its region is right under the same condition as that of a phrase (densevse/evaluation/correspondence_accuracy.py).
"""

from collections.abc import Sequence

import pandas as pd

from densevse.artifacts.columns import BOX_COLUMNS, CAPTION_ID, IMAGE_ID
from densevse.artifacts.phrase_boxes import PHRASE
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS
from densevse.artifacts.schemas.features import CORRESPONDENCE_ACCURACY, REGION_FEATURES
from densevse.evaluation.correspondence_accuracy import accuracy
from snakeproof import schema
from snakeproof.logs import logger
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.store import FeatureStore

_TRIPLET = (
    Column("relation", TEXT, "the typed dependency"),
    Column("governor", TEXT, "the word that governs, lower case"),
    Column("dependent", TEXT, "the word that depends on it, lower case"),
)
_REGION = (
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
        *_TRIPLET,
        Column("governor_token", NUMBER, "index of the governing word in the sentence"),
        Column("dependent_token", NUMBER, "index of the dependent word in the sentence"),
        *_REGION,
    ),
)

TRIPLET_REGIONS = Schema(
    "triplet_regions",
    "a region of the test images that is among the best of a triplet",
    (*_TRIPLET, Column("sentences", NUMBER, "how many sentences of the split have the triplet"), IMAGE_ID, *_REGION),
)


def write_alignment_accuracy(
    alignments: str, boxes: str, caption_table: str, regions: Sequence[str], output: str
) -> None:
    """The job that compares alignments of sentences in their own images with true boxes: CORRESPONDENCE_ACCURACY rows.

    `regions` are the shards of the regions' features.
    """
    found = schema.read(alignments, ALIGNMENTS)
    own = schema.read(caption_table, CAPTIONS, ["caption_id", "image_id"])
    true = schema.read(boxes, BOXES)
    learned = phrase_alignments(found.merge(own, on=["caption_id", "image_id"]), true)
    rows = accuracy(learned, true, FeatureStore(regions, REGION_FEATURES).rows, "all")
    logger.info("\n%s", rows.to_string(index=False))
    schema.write(rows, CORRESPONDENCE_ACCURACY, output)


def phrase_alignments(alignments: pd.DataFrame, boxes: pd.DataFrame) -> pd.DataFrame:
    """The alignments whose two words are in one phrase of BOXES rows, with `start` and `end` of the shortest such."""
    phrases = boxes.loc[boxes["start"] >= 0, PHRASE].drop_duplicates()
    rows = alignments.reset_index(names="number").merge(phrases, on="caption_id")
    tokens = rows[["governor_token", "dependent_token"]]
    inside = (tokens.min(axis=1) >= rows["start"]) & (tokens.max(axis=1) < rows["end"])
    rows = rows[inside].assign(length=rows["end"] - rows["start"]).sort_values(["number", "length"], kind="stable")
    return rows.drop_duplicates("number").drop(columns=["number", "length"]).reset_index(drop=True)
