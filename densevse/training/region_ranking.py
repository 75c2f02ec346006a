"""Ranking annotated regions and phrases against each other (HM-LSTM, section 5.2 and Table 4).

A region is the box around all that a phrase of a test sentence names; a query region asks for its phrases among all
phrases of the split, a phrase for its region among all regions. Only noun phrases that the parser found and that have
a true box take part: the paper's phrases come from its parser as well.
"""

from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX
from densevse.artifacts.phrase_boxes import PHRASE, phrase_boxes
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.store import FeatureStore
from densevse.errors import InputError
from densevse.evaluation.protocols import TestSet, full
from densevse.evaluation.ranks import ScoreBlock
from densevse.evaluation.retrieval import retrieve
from densevse.logs import logger
from densevse.methods.hm_lstm import HMLSTM
from densevse.training.correspondences import embed_phrases, open_model
from densevse.training.data import Files, Inputs
from densevse.training.encode import evaluation
from densevse.training.ragged import Indices

AT_ONCE = 512


def rank_regions(
    files: Files, model: str, true_regions: str, boxes: str, threads: int, output: str, made_from: dict[str, Any]
) -> None:
    """Rank the test split's true regions and phrases with a trained HM-LSTM and write RETRIEVAL rows.

    `true_regions` are the features of the true boxes. A region's id is `<image_id>/<rank>`, a phrase's
    `<caption_id>/<start>-<end>`.
    """
    inputs, method = open_model(files, model, threads)
    rows, test_set = ranked(method, inputs, FeatureStore([true_regions], REGION_FEATURES), schema.read(boxes, BOXES))
    counts = np.bincount(test_set.image_of_caption).tolist()  # the artifact names queries, not which belong together
    schema.write(rows, RETRIEVAL, output, {**made_from, "phrases_of_regions": counts})


def ranked(method: HMLSTM, inputs: Inputs, store: FeatureStore, boxes: pd.DataFrame) -> tuple[pd.DataFrame, TestSet]:
    """RETRIEVAL rows of regions that ask for phrases (annotation) and phrases that ask for regions (search).

    With them come the regions (as images) and phrases (as captions) that were ranked.
    """
    with evaluation(method):
        phrases, h = _phrases(method, inputs)
        phrases = _with_regions(phrases, phrase_boxes(boxes), store.rows)
        used = np.unique(phrases["store_row"])
        v = torch.cat(
            [
                method.embed_regions(torch.from_numpy(store.gather(part)).float().to(h.device))
                for part in np.array_split(used, -(-len(used) // AT_ONCE))
            ]
        )
    h = h[torch.from_numpy(phrases.index.to_numpy(copy=True)).to(h.device)]
    names = store.rows["image_id"].astype(str) + "/" + store.rows["rank"].astype(str)
    region = np.searchsorted(used, phrases["store_row"])
    spans = phrases["start"].astype(str) + "-" + phrases["end"].astype(str)
    phrase_ids = (phrases["caption_id"] + "/" + spans).to_numpy(dtype=object)
    region_ids = names.to_numpy(dtype=object)[used]
    test_set = TestSet(region_ids, phrase_ids, region, region_ids)
    logger.info("%d regions and %d phrases", len(used), len(phrases))
    return retrieve(_scorer(v, h), test_set, full(test_set)), test_set


def _phrases(method: HMLSTM, inputs: Inputs) -> tuple[pd.DataFrame, Tensor]:
    """All noun phrases of the test sentences and their representations."""
    pairs = inputs.pairs("test")
    count = len(pairs.rows.caption_ids)
    parts = [
        embed_phrases(method, pairs, np.arange(first, min(first + AT_ONCE, count)))
        for first in range(0, count, AT_ONCE)
    ]
    sentence = np.concatenate([part.sentence for part in parts])
    rows = pd.DataFrame(
        {
            "caption_id": pairs.rows.caption_ids[sentence],
            "start": np.concatenate([part.start for part in parts]),
            "end": np.concatenate([part.end for part in parts]),
        }
    )
    return rows, torch.cat([part.h for part in parts])


def _with_regions(phrases: pd.DataFrame, true: pd.DataFrame, regions: pd.DataFrame) -> pd.DataFrame:
    """The phrases that have a true box, by its row in the store (`store_row`); their index is their place before."""
    placed = phrases.reset_index(names="place").merge(true[[*PHRASE, "image_id", *BOX]], on=PHRASE)
    stored = regions[["image_id", *BOX]].assign(store_row=np.arange(len(regions)))
    # A box that is the whole image stands there twice: as rank 0 and as itself.
    found = placed.merge(stored.drop_duplicates(["image_id", *BOX]), on=["image_id", *BOX], how="left")
    if found.empty or found["store_row"].isna().any():
        raise InputError(
            f"{len(placed)} of {len(phrases)} phrases have a true box, {int(found['store_row'].isna().sum())} of these "
            "boxes have no features. The boxes are of other captions or newer than their features: delete the features "
            "and run snakemake again."
        )
    found["store_row"] = found["store_row"].astype(np.int64)
    return found.sort_values(["store_row", "place"]).set_index("place")


def _scorer(v: Tensor, h: Tensor) -> Any:
    def of_rows(regions: Indices, phrases: Indices) -> ScoreBlock:
        some_v, some_h = v[torch.from_numpy(regions)], h[torch.from_numpy(phrases)]
        return lambda region, phrase: some_v[region] @ some_h[phrase].T

    return of_rows
