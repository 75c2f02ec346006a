"""Writes the attention of a trained model in images and their sentences as SALIENCY rows."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.analyses.attention.saliency import SALIENCY
from densevse.artifacts.boxes import BOX, grid_cells
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.methods.interface import Method
from densevse.models.attention import Weights, saliency
from densevse.models.files import open_model
from densevse.runtime.numerics import set_up
from snakeproof import schema


def write_saliency(
    model: str, threads: int, wildcards: Mapping[str, str], output: str, **files: str | list[str]
) -> None:
    """The job that writes the SALIENCY of every image of a split with its first sentence.

    `wildcards` name the split, and `files` are the model's inputs. Raises `InputError` if the model's method has no
    attention.
    """
    inputs, method = open_model(Files(files), model, set_up(threads), "saliency")
    schema.write(saliency_rows(method, inputs, wildcards["split"]), SALIENCY, output)


def saliency_rows(method: Method, inputs: Inputs, split: str) -> pd.DataFrame:
    """SALIENCY rows of every image of a split with its first sentence."""
    pairs = inputs.pairs(split)
    boxes = {"grid": _cell_boxes, "regions": _region_boxes}
    tables, tokens = [], inputs.sentence_tokens(pairs.rows.caption_ids)
    for some in saliency(method, pairs):
        caption_ids = pairs.rows.caption_ids[some.sentences]
        image_ids = pairs.rows.image_ids[pairs.rows.image_of_caption[some.sentences]]
        of_images = boxes[some.view](inputs, image_ids, some.places.shape[2])
        steps = some.places.max(axis=2) > 0
        words_of = [tokens[sentence] for sentence in some.sentences]
        places, words = _place_rows(some.places, steps, of_images), _word_rows(some.words, steps, words_of)
        rows = pd.concat([places, words]).sort_values("pair", kind="stable")  # each pair's places, then its words
        tables.append(rows.assign(image_id=image_ids[rows["pair"]], caption_id=caption_ids[rows["pair"]]))
    return pd.concat(tables, ignore_index=True).drop(columns="pair")


def _cell_boxes(inputs: Inputs, image_ids: NDArray[np.object_], cells: int) -> NDArray[np.float64]:
    """The boxes of the cells of some images, (n, cells, 4)."""
    sizes = inputs.images.set_index("image_id").loc[list(image_ids), ["width", "height"]].astype(int)
    return np.stack([grid_cells(width, height, cells) for width, height in sizes.to_numpy().tolist()])


def _region_boxes(inputs: Inputs, image_ids: NDArray[np.object_], regions: int) -> NDArray[np.float64]:
    """The boxes of the regions of some images, (n, regions, 4); 0 for regions that do not exist."""
    rows = inputs.regions.rows
    rows = rows[rows["image_id"].isin(image_ids)]
    boxes = np.zeros((len(image_ids), regions, 4))
    boxes[pd.Index(image_ids).get_indexer(rows["image_id"]), rows["rank"]] = rows[BOX]
    return boxes


def _place_rows(weights: Weights, steps: NDArray[np.bool_], boxes: NDArray[np.float64]) -> pd.DataFrame:
    """(T, n, places) weights as rows, of the places with attention, with their boxes (n, places, 4)."""
    rows = _weight_rows(weights, steps, weights.max(axis=0) > 0)
    placed = boxes[rows["pair"], rows["place"]].astype(np.float32)
    return rows.assign(word="", **dict(zip(BOX, placed.T, strict=True)))


def _word_rows(weights: Weights, steps: NDArray[np.bool_], texts: Sequence[list[str]]) -> pd.DataFrame:
    """(T, n, longest) weights as rows of the existing words; a sentence without any has one unknown word."""
    known = [(words or ["(unknown)"])[: weights.shape[2]] for words in texts]
    lengths = np.array([len(words) for words in known])
    rows = _weight_rows(weights, steps, np.arange(weights.shape[2]) < lengths[:, None])
    word = [known[pair][place] for pair, place in zip(rows["pair"], rows["place"], strict=True)]
    return rows.assign(word=word, **dict.fromkeys(BOX, np.float32(0)))


def _weight_rows(weights: Weights, steps: NDArray[np.bool_], present: NDArray[np.bool_]) -> pd.DataFrame:
    """(T, n, places) weights as one row for each pair, step and place, in this order.

    Only the `steps` (T, n) of a pair and the `present` places (n, places) become rows.
    """
    pair, step, place = np.nonzero(steps.T[:, :, None] & present[:, None])
    columns = {"step": (step + 1).astype(np.int32), "place": place.astype(np.int32)}
    return pd.DataFrame({"pair": pair, **columns, "weight": weights[step, pair, place]})
