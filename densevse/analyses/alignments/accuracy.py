"""The accuracy of alignments on phrases with known true boxes, for triplets about one thing.

Both words of such a triplet belong to one phrase with a true box ("red" and "circle" in "a red circle"). Its region is
right under the same condition as that of a phrase (densevse/evaluation/correspondence_accuracy.py).
"""

from collections.abc import Sequence

import pandas as pd

from densevse.analyses.alignments.schemas import ALIGNMENTS
from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.phrase_boxes import PHRASE
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS
from densevse.artifacts.schemas.features import CORRESPONDENCE_ACCURACY, REGION_FEATURES
from densevse.artifacts.store import FeatureStore
from densevse.evaluation.correspondence_accuracy import accuracy
from densevse.runtime.logs import logger


def write_alignment_accuracy(
    alignments: str, boxes: str, caption_table: str, regions: Sequence[str], output: str
) -> None:
    """The job that compares alignments of sentences in their own images with true boxes: CORRESPONDENCE_ACCURACY rows.

    `regions` are the shards of the regions' features.
    """
    found = schema.read(alignments, ALIGNMENTS)
    own = schema.read(caption_table, CAPTIONS, ["caption_id", "image_id"])
    true = schema.read(boxes, BOXES)
    learned = within_phrases(found.merge(own, on=["caption_id", "image_id"]), true)
    rows = accuracy(learned, true, FeatureStore(regions, REGION_FEATURES).rows, "all")
    logger.info("\n%s", rows.to_string(index=False))
    made_from = lineage({}, {"alignments": alignments, "boxes": boxes})
    schema.write(rows, CORRESPONDENCE_ACCURACY, output, made_from)


def within_phrases(alignments: pd.DataFrame, boxes: pd.DataFrame) -> pd.DataFrame:
    """The alignments whose two words are in one phrase of BOXES rows, with `start` and `end` of the shortest such."""
    phrases = boxes.loc[boxes["start"] >= 0, PHRASE].drop_duplicates()
    rows = alignments.reset_index(names="number").merge(phrases, on="caption_id")
    tokens = rows[["governor_token", "dependent_token"]]
    inside = (tokens.min(axis=1) >= rows["start"]) & (tokens.max(axis=1) < rows["end"])
    rows = rows[inside].assign(length=rows["end"] - rows["start"]).sort_values(["number", "length"], kind="stable")
    return rows.drop_duplicates("number").drop(columns=["number", "length"]).reset_index(drop=True)
