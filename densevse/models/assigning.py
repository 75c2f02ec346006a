"""Assigns a region to each noun phrase with a trained model (HM-LSTM, section 3.3)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.artifacts.lineage import lineage
from densevse.artifacts.phrase_boxes import PHRASE, PHRASES_AT_ONCE, RIGHT_OVERLAP, TRUE_BOX, true_boxes_of_phrases
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.features import CORRESPONDENCES
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.methods.interface import Method, to_device
from densevse.models.embedding import IMAGES_AT_ONCE, phrases_of, regions_of, with_words
from densevse.models.encoding import batches, evaluation
from densevse.models.files import open_model
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError
from densevse.runtime.logs import progress
from densevse.runtime.numerics import set_up


def assign_regions(
    start: str, round: int, threads: int, output: str, true_boxes: str | None = None, **files: str | list[str]
) -> None:
    """The job that assigns a region to each noun phrase of the training split, as a round is trained on them.

    `start` is the model of the round before, and `files` are its inputs. With BOXES rows as `true_boxes`, these decide
    in place of the model. Raises `InputError` as `open_model` and `by_true_boxes` do.
    """
    inputs, method = open_model(Files(files), start, set_up(threads), "embed_regions", "embed_phrases", "assign")
    parents = {"start": start} if true_boxes is None else {"start": start, "true_boxes": true_boxes}
    true = None if true_boxes is None else schema.read(true_boxes, BOXES)
    write_correspondences(method, inputs, "train", output, lineage({"round": round}, parents), true)


def write_correspondences(
    method: Method,
    inputs: Inputs,
    split: str,
    output: str | Path,
    made_from: Mapping[str, Any],
    true: pd.DataFrame | None = None,
) -> None:
    """Assigns a region to each noun phrase of a split's sentences, and writes a CORRESPONDENCES artifact.

    With `true` BOXES rows, these decide in place of the method.
    """
    found = correspond(method, inputs, split)
    if true is not None:
        found = by_true_boxes(found, true, inputs.regions.rows)
    schema.write(found, CORRESPONDENCES, output, made_from)


def correspond(method: Method, inputs: Inputs, split: str) -> pd.DataFrame:
    """CORRESPONDENCES rows: each noun phrase of a split's sentences with the best region of its image."""
    pairs = inputs.pairs(split)
    parts = progress(batches(len(pairs.rows.image_ids), IMAGES_AT_ONCE), f"regions of {split} phrases")
    with evaluation(method):
        assigned = [_assigned(method, pairs, images) for images in parts]
    rows = with_words(pd.concat(assigned, ignore_index=True), inputs).rename(columns={"text": "phrase"})
    return rows.merge(_boxes(inputs.regions.rows), on=["image_id", "region"], how="left", validate="many_to_one")


def by_true_boxes(rows: pd.DataFrame, true: pd.DataFrame, regions: pd.DataFrame) -> pd.DataFrame:
    """CORRESPONDENCES rows with the region that overlaps a true box of the phrase most, at confidence 1.

    `true` holds BOXES rows, `regions` REGION_FEATURES rows. A phrase is left out if no region overlaps one of its boxes
    by `RIGHT_OVERLAP`. Raises `InputError` if no phrase remains.
    """
    true, boxes = true_boxes_of_phrases(true), _boxes(regions)
    firsts = range(0, len(rows) or 1, PHRASES_AT_ONCE)  # one part at least, even without phrases
    best = pd.concat([_most_overlapping(rows.iloc[first : first + PHRASES_AT_ONCE], true, boxes) for first in firsts])
    if best.empty:
        raise InputError(f"none of {len(rows)} phrases has a region that overlaps a true box of it by {RIGHT_OVERLAP}.")
    return best.reset_index(drop=True)


def _most_overlapping(rows: pd.DataFrame, true: pd.DataFrame, boxes: pd.DataFrame) -> pd.DataFrame:
    """The rows whose phrase has a true box that one of its image's boxes overlaps by `RIGHT_OVERLAP`, with that box."""
    pairs = rows.drop(columns=["region", "confidence", *BOX]).merge(true, on=PHRASE).merge(boxes, on="image_id")
    overlap = intersection_over_union(pairs[BOX].to_numpy(float), pairs[TRUE_BOX].to_numpy(float))
    pairs = pairs.assign(confidence=np.float32(1), overlap=overlap)[overlap >= RIGHT_OVERLAP]
    best = pairs.sort_values("overlap", ascending=False, kind="stable").drop_duplicates(PHRASE).sort_index()
    return best[rows.columns]


def _boxes(regions: pd.DataFrame) -> pd.DataFrame:
    """The boxes of REGION_FEATURES rows, by image and by region number."""
    return regions[["image_id", "rank", *BOX]].rename(columns={"rank": "region"})


def _assigned(method: Method, pairs: Pairs, images: Indices) -> pd.DataFrame:
    """The rows of some consecutive images, still without words and boxes."""
    first, last = np.searchsorted(pairs.rows.image_of_caption, [images[0], images[-1] + 1])
    rows, h = phrases_of(method, pairs, np.arange(first, last))
    regions, present = regions_of(method, pairs, images)
    image = pairs.rows.image_of_caption[rows.pop("sentence")] - images[0]
    of_phrase = to_device(torch.from_numpy(image), regions.device)
    region, confidence = method.assign(regions[of_phrase], present[of_phrase], h)
    return rows.assign(region=region.cpu().numpy().astype(np.int32), confidence=confidence.cpu().numpy())
