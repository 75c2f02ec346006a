"""What a trained model attends to in images and their sentences: SALIENCY rows, for any method that can say it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX, grid_cells
from densevse.artifacts.schemas.saliency import SALIENCY
from densevse.batches.inputs import Inputs
from densevse.batches.pairs import Pairs
from densevse.batches.ragged import Indices
from densevse.inference.encoding import batches, evaluation
from densevse.logs import progress
from densevse.methods.interface import Method, device_of, to_device

Weights = NDArray[np.float32]

IMAGES_AT_ONCE = 64


def write_saliency(
    method: Method, inputs: Inputs, split: str, output: str | Path, made_from: Mapping[str, Any]
) -> None:
    """Write the saliency of every image of a split with its first sentence."""
    pairs = inputs.pairs(split)
    sizes = inputs.images.set_index("image_id")
    tables = []
    for sentences, cells, words in _saliency(method, pairs):
        caption_ids = pairs.rows.caption_ids[sentences]
        image_ids = pairs.rows.image_ids[pairs.rows.image_of_caption[sentences]]
        texts = inputs.tokens_of(caption_ids)
        for pair, (image_id, caption_id) in enumerate(zip(image_ids, caption_ids, strict=True)):
            image = sizes.loc[image_id]
            boxes = grid_cells(int(image["width"]), int(image["height"]), cells.shape[2])
            parts = (_cells(cells[:, pair], boxes), _words(words[:, pair], texts[pair]))
            tables.append(pd.concat(parts).assign(image_id=image_id, caption_id=caption_id))
    schema.write(pd.concat(tables, ignore_index=True), SALIENCY, output, made_from)


def entropies(method: Method, pairs: Pairs) -> dict[str, float]:
    """The mean entropy of a split's saliency over cells and over words, in nats, over images and steps."""
    found = [[_entropy(weights) for weights in maps] for _, *maps in _saliency(method, pairs)]
    cells, words = (float(np.concatenate(parts).mean()) for parts in zip(*found, strict=True))
    return {"entropy_cells": cells, "entropy_words": words}


def _saliency(method: Method, pairs: Pairs) -> Iterator[tuple[Indices, Weights, Weights]]:
    """Of each image's first sentence, some at once: sentences (n,), saliency (T, n, cells) and (T, n, longest)."""
    device = device_of(method)
    first = np.unique(pairs.rows.image_of_caption, return_index=True)[1]
    for places in progress(batches(len(first), IMAGES_AT_ONCE), "saliency"):
        sentences = first[places]
        with evaluation(method):
            images = method.encode_images(to_device(pairs.images(pairs.rows.image_of_caption[sentences]), device))
            encoded = method.encode_sentences(to_device(pairs.sentences(sentences), device))
            matched = torch.arange(len(sentences), device=device)
            found = method.saliency(images, encoded, matched, matched)
        yield sentences, found.cells.float().cpu().numpy(), found.words.float().cpu().numpy()


def _entropy(weights: Weights) -> NDArray[np.float64]:
    """(T, n, candidates) to (T * n,)."""
    found: NDArray[np.float64] = torch.special.entr(torch.from_numpy(weights).double()).sum(dim=2).flatten().numpy()
    return found


def _cells(weights: Weights, boxes: NDArray[np.float64]) -> pd.DataFrame:
    """(T, cells) weights as rows."""
    rows = pd.DataFrame(np.tile(boxes, (len(weights), 1)).astype(np.float32), columns=BOX)
    return _placed(rows, weights).assign(word="")


def _words(weights: Weights, words: list[str]) -> pd.DataFrame:
    """(T, longest) weights as rows of the words that there are; a sentence without any has one, which is unknown."""
    words = (words or ["(unknown)"])[: weights.shape[1]]
    rows = pd.DataFrame(np.zeros((len(weights) * len(words), len(BOX)), np.float32), columns=BOX)
    return _placed(rows, weights[:, : len(words)]).assign(word=words * len(weights))


def _placed(rows: pd.DataFrame, weights: Weights) -> pd.DataFrame:
    steps, places = weights.shape
    return rows.assign(
        step=np.repeat(np.arange(1, steps + 1, dtype=np.int32), places),
        place=np.tile(np.arange(places, dtype=np.int32), steps),
        weight=weights.ravel(),
    )
