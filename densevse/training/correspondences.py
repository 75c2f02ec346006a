"""Which region each noun phrase means, as a trained HM-LSTM sees it (Niu et al., ICCV 2017, section 3.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.correspondences import CORRESPONDENCES
from densevse.artifacts.schemas.parses import PARSES
from densevse.errors import InputError
from densevse.logs import progress
from densevse.methods.hm_lstm import HMLSTM
from densevse.methods.interface import Images, to_device
from densevse.numerics import set_up
from densevse.training.data import Files, Inputs, Pairs
from densevse.training.encode import evaluation
from densevse.training.forest import Forest
from densevse.training.models import load_model
from densevse.training.ragged import Indices

IMAGES_AT_ONCE = 64


@dataclass(frozen=True)
class Phrases:
    """The noun phrases of some sentences and how the method represents them."""

    sentence: Indices  # (phrases,) the sentence's row in its split
    start: Indices  # (phrases,) first token
    end: Indices  # (phrases,) after the last token
    h: Tensor  # (phrases, dimension)


def write_correspondences(
    files: Files, model: str | Path, threads: int, output: str | Path, made_from: Mapping[str, Any]
) -> None:
    """Assign a region to each noun phrase of the training sentences with a trained model, and write them."""
    inputs, method = open_model(files, model, threads)
    schema.write(correspond(method, inputs, "train"), CORRESPONDENCES, output, made_from)


def open_model(files: Files, model: str | Path, threads: int) -> tuple[Inputs, HMLSTM]:
    """A data set's artifacts and an HM-LSTM trained on them. Raises `InputError` if the model is of another method."""
    device = set_up(threads)
    inputs = Inputs(files)
    method = load_model(model, inputs.shapes(), inputs.features_made_from()).to(device)
    if not isinstance(method, HMLSTM):
        raise InputError(f"{model}: expected an HM-LSTM, found {type(method).__name__}; only HM-LSTM has phrases.")
    return inputs, method


def correspond(method: HMLSTM, inputs: Inputs, split: str) -> pd.DataFrame:
    """CORRESPONDENCES rows: each noun phrase of a split's sentences with the best matching region of its image."""
    pairs = inputs.pairs(split)
    count = len(pairs.rows.image_ids)
    batches = [np.arange(first, min(first + IMAGES_AT_ONCE, count)) for first in range(0, count, IMAGES_AT_ONCE)]
    with evaluation(method):
        assigned = [_assigned(method, pairs, images) for images in progress(batches, f"regions of {split} phrases")]
    rows = pd.concat(assigned, ignore_index=True)
    rows["phrase"] = words_of(rows, inputs)
    boxes = inputs.stores["regions"].rows[["image_id", "rank", *BOX]].rename(columns={"rank": "region"})
    return rows.merge(boxes, on=["image_id", "region"], how="left", validate="many_to_one")


def embed_phrases(method: HMLSTM, pairs: Pairs, sentences: Indices) -> Phrases:
    """The noun phrases of some of a split's sentences; a sentence that is one itself is not among them."""
    forest = forest_of(pairs)
    trees = forest.trees(sentences)
    nodes = np.flatnonzero(trees.noun_phrase & (trees.parent >= 0))
    rows, owner, _ = forest.nodes.take(sentences)
    h = method.embed_nodes(trees, torch.from_numpy(nodes))
    return Phrases(sentences[owner[nodes]], forest.start[rows[nodes]], forest.end[rows[nodes]], h)


def embed_regions(method: HMLSTM, images: Images) -> Tensor:
    """(I, R, dimension) representations of the regions of a batch of images; zero where there is none."""
    v = method.embed_regions(images.views["regions"][images.present])
    padded = v.new_zeros(*images.present.shape, v.shape[1])
    padded[images.present] = v
    return padded


def forest_of(pairs: Pairs) -> Forest:
    """The trees of a split. Raises `InputError` if its sentences were not parsed."""
    if pairs.forest is None:
        raise InputError("phrases need parses, but the rule gave none: the method's `sentences` must hold `trees`.")
    return pairs.forest


def _assigned(method: HMLSTM, pairs: Pairs, images: Indices) -> pd.DataFrame:
    """The rows of some consecutive images, without words and boxes."""
    first, last = np.searchsorted(pairs.rows.image_of_caption, [images[0], images[-1] + 1])
    phrases = embed_phrases(method, pairs, np.arange(first, last))
    batch = to_device(pairs.images(images), phrases.h.device)
    image = pairs.rows.image_of_caption[phrases.sentence]
    regions, of_phrase = embed_regions(method, batch), image - images[0]
    region, confidence = method.assign(regions[of_phrase], batch.present[of_phrase], phrases.h)
    return pd.DataFrame(
        {
            "caption_id": pairs.rows.caption_ids[phrases.sentence],
            "image_id": pairs.rows.image_ids[image],
            "start": phrases.start.astype(np.int32),
            "end": phrases.end.astype(np.int32),
            "region": region.cpu().numpy().astype(np.int32),
            "confidence": confidence.cpu().numpy(),
        }
    )


def words_of(rows: pd.DataFrame, inputs: Inputs) -> list[str]:
    """The words of each row's tokens, from `start` to `end` of its `caption_id`; none for a row without caption."""
    parses = schema.read_all(inputs.files.parses, PARSES, ["caption_id", "tokens"])
    tokens = dict(zip(parses["caption_id"], parses["tokens"], strict=True)) | {"": []}
    spans = zip(rows["caption_id"], rows["start"], rows["end"], strict=True)
    return [" ".join(tokens[caption_id][start:end]) for caption_id, start, end in spans]
