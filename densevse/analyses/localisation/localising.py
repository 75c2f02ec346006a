"""Localises phrases in images: heat maps of a phrase's scores with windows of the image.

Kiros et al. 2014 compare whole images with sentences. A window is an image too, and a phrase is a short sentence, so a
joint space of whole images can localise things without training for it. In the pointing game (Zhang et al., Top-down
Neural Attention by Excitation Backprop, ECCV 2016) a phrase is right if the highest place is in one of its true boxes;
here without a tolerance around the box.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.analyses.localisation.schemas import HEAT_MAPS
from densevse.analyses.localisation.windows import WINDOW_FEATURES
from densevse.artifacts.boxes import BOX, covered_shares, grid_cells, is_in_boxes
from densevse.artifacts.phrase_boxes import named_boxes
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.artifacts.schemas.features import network_settings
from densevse.language.tokens import tokenize
from densevse.language.words import UNKNOWN, Vocabulary
from densevse.methods.interface import DualEncoder, Embeddings, Images, module_device
from densevse.models.encoding import evaluation
from densevse.models.spaces import encode_words, read_space
from densevse.runtime.numerics import set_up
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import progress
from snakeproof.store import FeatureStore

_Reals = NDArray[np.float64]

EQUAL = 1e-6
"""Cells whose scores differ by less are equally high: the same windows summed in another order."""


def write_heat_maps(
    model: str,
    windows: str,
    image_table: str,
    boxes: str,
    words: str,
    cells: int,
    threads: int,
    output: str,
) -> None:
    """The job that writes a heat map of `cells` x `cells` for each phrase of each image with windows (HEAT_MAPS).

    `windows` are WINDOW_FEATURES, and `words` is the model's vocabulary. Raises `InputError` unless the model scores
    one vector of an image with one vector of a sentence's words, and its features come from the windows' network.
    """
    device = set_up(threads)
    store = FeatureStore([windows], WINDOW_FEATURES)
    purpose, advice = "phrases can be localised", "Name another variant, such as vse."
    space = read_space(model, purpose, advice, network_settings(store.statement)).to(device)
    (view,) = space.shapes.features
    true_boxes = named_boxes(schema.read(boxes, BOXES))
    true_boxes = true_boxes[true_boxes["image_id"].isin(store.rows["image_id"])]
    distinct = list(true_boxes["phrase"].unique())
    place = {phrase: number for number, phrase in enumerate(distinct)}
    encoded = _encode_phrases(space, distinct, Vocabulary.read(words))
    sizes = schema.read(image_table, IMAGES, ["image_id", "width", "height"]).set_index("image_id")
    of_images = {str(image_id): rows for image_id, rows in true_boxes.groupby("image_id")}
    found: list[dict[str, Any]] = []
    images = store.rows.groupby("image_id", sort=False).indices.items()
    for image_id, rows in progress(images, "images"):
        width, height = (int(length) for length in sizes.loc[image_id])
        phrases = of_images[str(image_id)].groupby("phrase", sort=False)
        wanted = Embeddings(encoded.vectors[[place[str(phrase)] for phrase in phrases.groups]])
        scores = _scores(space, view, store.gather(rows), wanted)
        if not np.isfinite(scores).all():
            raise InputError(
                f"{model}: a score of {image_id} is not a number; delete the model and run snakemake again."
            )
        maps = heat_maps(store.rows[BOX].to_numpy(float)[rows], scores, (width, height), cells)
        for (phrase, true), heat in zip(phrases, maps, strict=True):
            pointed = pointing_game(heat, true[BOX].to_numpy(float), (width, height))
            found.append({"image_id": image_id, "phrase": phrase, "heat": heat.astype(np.float32), **pointed})
    schema.write(pd.DataFrame(found), HEAT_MAPS, output)


def heat_maps(windows: _Reals, scores: _Reals, size: tuple[int, int], cells: int) -> _Reals:
    """Maps (phrases, cells * cells) of scores (windows, phrases): each cell's mean over the windows that cover it.

    Windows (windows, 4) are boxes in pixels of an image whose `size` is width and height; a window covers a cell if it
    covers its centre.
    """
    centre = cell_centres(size, cells)[:, None]
    begin, end = windows[:, :2], windows[:, :2] + windows[:, 2:]
    covers = ((begin <= centre) & (centre < end)).all(axis=2).astype(float)
    found: _Reals = (covers @ scores / covers.sum(axis=1, keepdims=True)).T
    return found


def cell_centres(size: tuple[int, int], cells: int) -> _Reals:
    """(cells * cells, 2) x and y in pixels of an image whose `size` is width and height."""
    boxes = grid_cells(*size, cells * cells)
    return boxes[:, :2] + boxes[:, 2:] / 2


def pointing_game(heat: _Reals, true: _Reals, size: tuple[int, int]) -> dict[str, Any]:
    """Tests if a map (cells * cells,) and the image's centre point into a phrase's true boxes (boxes, 4).

    The peak is the mean of the equally highest cells, so a constant map points at the centre. The names are those of
    HEAT_MAPS.
    """
    highest = heat >= heat.max() - EQUAL
    x, y = cell_centres(size, round(len(heat) ** 0.5))[highest].mean(axis=0)
    whole = np.array([[0, 0, *size]], float)
    return {
        "x": x,
        "y": y,
        "right": is_in_boxes(x, y, true),
        "centre_right": is_in_boxes(size[0] / 2, size[1] / 2, true),
        "box_share": float(covered_shares(whole, true)[0]),
    }


def _encode_phrases(space: DualEncoder, phrases: Sequence[str], vocabulary: Vocabulary) -> Embeddings:
    """Phrases as sentences of the space; a phrase of unknown words is that number of unknown words."""
    return encode_words(space, [vocabulary.encode(tokenize(phrase)) or [UNKNOWN] for phrase in phrases])


def _scores(space: DualEncoder, view: str, features: NDArray[Any], phrases: Embeddings) -> _Reals:
    """(windows, phrases) scores of windows' features (windows, D)."""
    device = module_device(space)
    vectors = torch.from_numpy(features).float().to(device)
    present: Tensor = torch.zeros(len(vectors), 0, dtype=torch.bool, device=device)
    with evaluation(space):
        images = space.encode_images(Images({view: vectors}, present))
        found: _Reals = space.score(images, phrases).double().cpu().numpy()
    return found
