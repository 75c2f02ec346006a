"""Reads the lists of a retrieval by MS-COCO's ids, and checks them against ECCV Caption's and CxC's queries."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from densevse.analyses.eccv_caption.measures import AnswerLists
from densevse.analyses.eccv_caption.plan import LISTED
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.metrics import DIRECTIONS
from densevse.runtime.errors import InputError

_KINDS = {"i2t": "images", "t2i": "sentences"}
"""The queries of a direction; the candidates are those of the other direction."""


def numbers_of(captions: str, images: Iterable[int]) -> dict[str, dict[str, int]]:
    """MS-COCO's numbers of each direction's queries: `images` by image_id, CAPTIONS rows by caption_id."""
    rows = schema.read(captions, CAPTIONS, ["caption_id", "sentid"]).dropna()
    sentences = zip(rows["caption_id"], rows["sentid"].astype(int), strict=True)
    return {"i2t": {str(image): image for image in images}, "t2i": dict(sentences)}


def read_lists(
    retrieval: str, numbers: Mapping[str, Mapping[str, int]], known: Mapping[str, Collection[int]]
) -> dict[str, AnswerLists]:
    """The lists of a RETRIEVAL artifact, by direction.

    `numbers` comes from `numbers_of`, `known` are the queries of each direction. Raises `InputError` that names an
    image or sentence if the retrieval ranks others than these or leaves one out, or if its lists are too short.
    """
    rows = schema.read(retrieval, RETRIEVAL, ["direction", "query_id", "top", "top_scores"])
    asked = {direction: rows[rows["direction"] == direction] for direction in DIRECTIONS}
    for direction, of in asked.items():
        _check_queries(
            retrieval,
            _KINDS[direction],
            {name: numbers[direction].get(name) for name in of["query_id"]},
            known[direction],
        )
    listed = rows["top"].map(len)
    if listed.min() < LISTED:
        raise InputError(
            f"{retrieval}: it lists {listed.min()} candidates of a query, and {LISTED} are needed; set `top` of its "
            f"data set to {LISTED} and run snakemake again."
        )
    i2t, t2i = DIRECTIONS
    return {i2t: _lists(asked[i2t], numbers[i2t], numbers[t2i]), t2i: _lists(asked[t2i], numbers[t2i], numbers[i2t])}


def _check_queries(retrieval: str, kind: str, found: Mapping[str, int | None], known: Collection[int]) -> None:
    others = [name for name, number in found.items() if number not in known]
    missing = set(known).difference(found.values())
    if not others and not missing:
        return
    wrong = f"{others[0]!r} is none of them" if others else f"{min(missing)} is not ranked"
    raise InputError(
        f"{retrieval}: ECCV Caption and CxC are of {len(known):,} {kind} of MS-COCO, the test split of Karpathy's with "
        f"five sentences of each image, and {wrong} ({len(others):,} are others, {len(missing):,} are missing). "
        "Measure them on MS-COCO with all test images and `sentences: first_five`."
    )


def _lists(asked: pd.DataFrame, queries: Mapping[str, int], candidates: Mapping[str, int]) -> AnswerLists:
    found: Any = pd.Series(np.concatenate(asked["top"].to_numpy())).map(candidates).to_numpy(np.int64)
    rows = {queries[name]: row for row, name in enumerate(asked["query_id"])}
    return AnswerLists(rows, found.reshape(len(rows), -1), np.stack(list(asked["top_scores"])))
