"""Ranks annotated regions and phrases against each other (HM-LSTM, section 5.2 and Table 4), by their embeddings.

A region is the box around everything that a phrase of a test sentence names. A query region asks for its phrases among
all phrases of the split, and a phrase for its region among all regions. Only noun phrases that the parser found and
that have a true box are ranked, as the paper's phrases also come from its parser.
"""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX
from densevse.artifacts.phrase_boxes import PHRASE, phrase_boxes
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.protocols import TestSet, full
from densevse.evaluation.retrieval import Scorer, retrieve, versions
from densevse.evaluation.tiles import ScoreBlock
from densevse.evaluation.vectors import products
from densevse.runtime.arrays import Indices
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.store import FeatureStore

Embedded: TypeAlias = tuple[pd.DataFrame, NDArray[Any]]  # rows, and their vectors


def rank_regions(embeddings: str | Path, true_regions: str | Path, boxes: str | Path, output: str | Path) -> None:
    """The job that ranks the test split's true regions and phrases by a variant's round, and writes RETRIEVAL rows.

    `embeddings` are those of the split with its phrases, `true_regions` those of the true boxes, `boxes` BOXES rows. A
    region's id is `<image_id>/<rank>`, a phrase's `<caption_id>/<start>-<end>`.
    """
    embedded, regions = FeatureStore([embeddings], EMBEDDINGS), FeatureStore([true_regions], EMBEDDINGS)
    phrases = np.flatnonzero(embedded.rows["kind"] == "phrase")
    rows, test_set = rank_embeddings(
        (embedded.rows.iloc[phrases].reset_index(drop=True), embedded.gather(phrases)),
        (regions.rows, regions.gather(np.arange(len(regions)))),
        schema.read(boxes, BOXES),
    )
    counts = np.bincount(test_set.image_of_caption).tolist()  # the artifact does not say which queries belong together
    of = {"protocol": "regions", "split": "test"}
    schema.write(rows, RETRIEVAL, output, **of, phrases_of_regions=counts, versions=versions())


def rank_embeddings(phrases: Embedded, regions: Embedded, boxes: pd.DataFrame) -> tuple[pd.DataFrame, TestSet]:
    """RETRIEVAL rows of regions that ask for phrases (i2t) and of phrases that ask for regions (t2i).

    `phrases` and `regions` are EMBEDDINGS rows with their vectors, `boxes` BOXES rows. With the rows come the regions
    (as images) and phrases (as captions) that were ranked. Raises `InputError` if a phrase's true box is not among the
    regions.
    """
    placed = _match_regions(phrases[0], phrase_boxes(boxes), regions[0])
    used = np.unique(placed["region_row"])
    region = np.searchsorted(used, placed["region_row"])
    names = (regions[0]["image_id"] + "/" + regions[0]["rank"].astype(str)).to_numpy(dtype=object)
    spans = placed["start"].astype(str) + "-" + placed["end"].astype(str)
    phrase_ids = (placed["caption_id"] + "/" + spans).to_numpy(dtype=object)
    test_set = TestSet(names[used], phrase_ids, region, names[used])
    logger.info("%d regions and %d phrases", len(used), len(placed))
    score = _scorer(regions[1][used], phrases[1][placed["phrase_row"].to_numpy()])
    return retrieve(score, test_set, full(test_set)), test_set


def _match_regions(phrases: pd.DataFrame, true: pd.DataFrame, regions: pd.DataFrame) -> pd.DataFrame:
    """The phrases with a true box: `phrase_row` is their row among the phrases, `region_row` the box's region."""
    numbered = phrases[PHRASE].assign(phrase_row=np.arange(len(phrases)))
    placed = numbered.merge(true[[*PHRASE, "image_id", *BOX]], on=PHRASE)
    known = regions[["image_id", *BOX]].assign(region_row=np.arange(len(regions)))
    # A box that equals the whole image occurs twice: as rank 0 and as itself.
    found = placed.merge(known.drop_duplicates(["image_id", *BOX]), on=["image_id", *BOX], how="left")
    if found.empty or found["region_row"].isna().any():
        raise InputError(
            f"{len(placed)} of {len(phrases)} phrases have a true box, {int(found['region_row'].isna().sum())} of "
            "these boxes have no embedding. The boxes are of other captions or newer than their features: delete the "
            "features and run snakemake again."
        )
    return found.astype({"region_row": np.int64}).sort_values(["region_row", "phrase_row"], ignore_index=True)


def _scorer(regions: NDArray[Any], phrases: NDArray[Any]) -> Scorer:
    v, h = (vectors.astype(np.float32) for vectors in (regions, phrases))

    def select_block(region_rows: Indices, phrase_rows: Indices) -> ScoreBlock:
        some_v, some_h = v[region_rows], h[phrase_rows]
        return lambda region, phrase: products(some_v[region], some_h[phrase])

    return select_block
