"""What a trained model attends to in images and their sentences: SALIENCY rows, for any method that can say it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.analyses.attention.schemas import SALIENCY
from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX, grid_cells
from densevse.artifacts.identity import Identity
from densevse.data.inputs import Inputs
from densevse.inference.attention import Weights, saliency
from densevse.methods.interface import Method


def write_saliency(
    method: Method, inputs: Inputs, output: str | Path, made_from: Mapping[str, Any], of: Identity
) -> None:
    """Write the saliency of every image of the split of `of` with its first sentence."""
    pairs = inputs.pairs(str(of.split))
    sizes = inputs.images.set_index("image_id")[["width", "height"]].astype(int)
    tables = []
    for sentences, cells, words in saliency(method, pairs):
        caption_ids = pairs.rows.caption_ids[sentences]
        image_ids = pairs.rows.image_ids[pairs.rows.image_of_caption[sentences]]
        of_images = [grid_cells(w, h, cells.shape[2]) for w, h in sizes.loc[list(image_ids)].to_numpy().tolist()]
        rows = pd.concat([_cells(cells, np.stack(of_images)), _words(words, inputs.tokens_of(caption_ids))])
        rows = rows.sort_values("pair", kind="stable")  # each pair's cells, then its words
        tables.append(rows.assign(image_id=image_ids[rows["pair"]], caption_id=caption_ids[rows["pair"]]))
    table = pd.concat(tables, ignore_index=True).drop(columns="pair")
    schema.write(table, SALIENCY, output, made_from, of)


def _cells(weights: Weights, boxes: NDArray[np.float64]) -> pd.DataFrame:
    """(T, n, cells) weights as rows, with the cells' boxes (n, cells, 4)."""
    rows = _rows(weights, np.ones(boxes.shape[:2], bool))
    placed = boxes[rows["pair"], rows["place"]].astype(np.float32)
    return rows.assign(word="", **dict(zip(BOX, placed.T, strict=True)))


def _words(weights: Weights, texts: Sequence[list[str]]) -> pd.DataFrame:
    """(T, n, longest) weights as rows of the words that there are; a sentence without any has one, which is unknown."""
    known = [(words or ["(unknown)"])[: weights.shape[2]] for words in texts]
    lengths = np.array([len(words) for words in known])
    rows = _rows(weights, np.arange(weights.shape[2]) < lengths[:, None])
    word = [known[pair][place] for pair, place in zip(rows["pair"], rows["place"], strict=True)]
    return rows.assign(word=word, **dict.fromkeys(BOX, np.float32(0)))


def _rows(weights: Weights, present: NDArray[np.bool_]) -> pd.DataFrame:
    """(T, n, places) weights as one row per pair, step and place, in this order, of the places (n, places) present."""
    steps, pairs, places = weights.shape
    pair, step, place = np.nonzero(np.broadcast_to(present[:, None], (pairs, steps, places)))
    columns = {"step": (step + 1).astype(np.int32), "place": place.astype(np.int32)}
    return pd.DataFrame({"pair": pair, **columns, "weight": weights[step, pair, place]})
