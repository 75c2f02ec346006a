"""Schemas of vectors: features (files of snakeproof.store), embeddings, encodings, and phrases with regions."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from densevse.artifacts.boxes import BOX, Problems, find_form_problems
from densevse.artifacts.columns import BOX_COLUMNS, CAPTION_ID, IMAGE_ID
from densevse.artifacts.schemas.proposals import find_mostly_outside, find_repeated_detections
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Rule, Schema
from snakeproof.statements import Statement, parents


def find_wrong_regions(rows: pd.DataFrame, images: pd.DataFrame | None) -> Problems:
    """What is wrong with scored boxes, of regions with a known one: not the whole image, of rank 0. A rule."""
    known = ((rows["rank"] > 0) & (rows[BOX] != 0).any(axis=1)).to_numpy()
    regions, found = rows[known], Problems()
    regions = regions.assign(score=regions["score"].replace(np.inf, 0))  # which stands for an unknown one
    of_regions = find_form_problems(regions, images) | find_mostly_outside(regions, images)
    for problem, wrong in (of_regions | find_repeated_detections(regions)).items():
        found[problem] = np.zeros(len(rows), bool)
        found[problem][known] = wrong
    return found


IMAGE_FEATURES = Schema("image_features", "an image's vector or grid", (IMAGE_ID,), version=2)

REGION_FEATURES = Schema(
    "region_features",
    "a region of an image: its box and vector; rank 0 is the whole image; a box that is not known has no area",
    (
        IMAGE_ID,
        Column("rank", NUMBER, "0 for the whole image, then detections by descending score"),
        *BOX_COLUMNS,
        Column("score", REAL, "the detection's class score; infinite where it is not known"),
        Column("class_name", TEXT, "the detection's class; empty for the whole image"),
    ),
    version=2,
    rules=(Rule(find_wrong_regions, ("images",)),),
    context={"images": None},  # unless a writer knows them
)


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


ENCODINGS = Schema(
    "encodings",
    "an image as a trained model encodes it: a file of snakeproof.store, whose vector holds all parts of the "
    "encoding, one after the other, with the shapes that `parts` of its statement lists",
    (
        IMAGE_ID,
        Column("same_as", TEXT, "the first image of the file that the method reads alike: itself, or an equal one"),
    ),
)


PRECISION = Schema(
    "precision",
    "a network on a data set",
    (
        Column("precision", TEXT, "bf16 or fp32: what its convolutions and products are computed in"),
        Column("device", TEXT, "cpu or cuda: the device that it was chosen on, as the faster of the two"),
    ),
)


_NAMES = ("network", "concept_network", "proposer", "view")
_GROUPS = ("network", "options", "proposer")
_WITHOUT_EFFECT = ("file_names", "revisions", "source_names", "threads")
PREPROCESSING = "preprocessing"
"""The key of a statement that describes the network's preprocessing in words; settings decide it."""


def network_settings(statement: Statement) -> dict[str, Any]:
    """The settings in the statement of features or proposals: the names of network and view, and what decides them."""
    given: dict[str, Any] = {}
    for key, value in statement.given.items():
        if key not in _WITHOUT_EFFECT:
            given |= value if key in _GROUPS and isinstance(value, Mapping) else {key: value}
    named = {name: statement.wildcards[name] for name in _NAMES if name in statement.wildcards}
    found = {name: value for name, value in statement.found.items() if name != PREPROCESSING}
    return {**named, **given, **found}


def settings_with_parents(statement: Statement) -> dict[str, Any]:
    """The settings of features, and under `parents` those of the networks and proposals that they were made from.

    They say how features of other images are made that a model can read.
    """
    above = {
        name: settings_with_parents(each[0])
        for name, each in parents(statement).items()
        if name in ("proposals", "regions", "weights", "whole")
    }
    return {**network_settings(statement), "parents": above}
