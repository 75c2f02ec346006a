"""Embeds images, regions, sentences, phrases and words, and assigns regions to phrases (HM-LSTM, section 3.3).

The optional functions of `Method` that a method overrides decide what it can embed. All embeddings become rows of one
artifact, with the same schema for all methods, which figures and searches read.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.artifacts.phrase_boxes import PHRASE, PHRASES_AT_ONCE, RIGHT_OVERLAP, TRUE_BOX, true_boxes_of_phrases
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS
from densevse.artifacts.schemas.features import CORRESPONDENCES, EMBEDDINGS, REGION_FEATURES
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.language.words import UNKNOWN
from densevse.methods.interface import WHOLE_IMAGE, Method, module_device
from densevse.methods.moving import to_device
from densevse.models.encoding import batches, evaluation
from densevse.models.files import check_round, load_model, open_model
from densevse.runtime.arrays import Indices
from densevse.runtime.numerics import set_up
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger, progress
from snakeproof.store import FeatureStore, FeatureWriter

Vectors: TypeAlias = NDArray[np.float32]

IMAGES_AT_ONCE, ROWS_AT_ONCE = 64, 512
_NOTHING: dict[str, Any] = {
    "image_id": "",
    "caption_id": "",
    "text": "",
    "start": -1,
    "end": -1,
    "rank": -1,
    **dict.fromkeys(BOX, 0.0),
}
"""The values of EMBEDDINGS columns that do not apply to a row."""


def embed_split(model: str, threads: int, wildcards: Mapping[str, str], output: str, **files: str | list[str]) -> None:
    """The job that embeds everything that a trained model can of a split (EMBEDDINGS); `files` are the model's inputs.

    Raises `InputError` as `open_model` and `embed` do.
    """
    inputs, method = open_model(Files(files), model, set_up(threads))
    rows, vectors = embed(method, inputs, wildcards["split"])
    logger.info("embedded: %s", rows["kind"].value_counts(sort=False).to_dict())
    _write(rows, vectors, output)


def embed(method: Method, inputs: Inputs, split: str) -> tuple[pd.DataFrame, Vectors]:
    """EMBEDDINGS rows of a split, and their vectors (rows, dimension).

    Rows are images and their regions, sentences and their phrases, and the vocabulary's words. Raises `InputError` if
    the method can embed nothing.
    """
    pairs = inputs.pairs(split)
    has_regions = "regions" in inputs.stores
    known_words = len(inputs.vocabulary) - UNKNOWN - 1 if inputs.knows_words else 0
    kinds: dict[str, tuple[bool, Callable[[Indices], pd.DataFrame], int]] = {
        "embed_images": (True, lambda rows: _images(method, pairs, rows), len(pairs.rows.image_ids)),
        "embed_regions": (has_regions, lambda rows: _regions(method, pairs, rows), len(pairs.rows.image_ids)),
        "embed_sentences": (True, lambda rows: _sentences(method, pairs, rows), len(pairs.rows.caption_ids)),
        "embed_phrases": (True, lambda rows: _phrases(method, pairs, rows), len(pairs.rows.caption_ids)),
        "embed_words": (True, lambda rows: _words(method, inputs, rows), known_words),
    }
    parts: list[pd.DataFrame] = []
    with evaluation(method):
        for ability, (wanted, embedded, count) in kinds.items():
            if wanted and method.can(ability):
                parts += [embedded(rows) for rows in progress(batches(count, IMAGES_AT_ONCE), f"{split}: {ability}")]
    if not parts:
        raise InputError(f"{type(method).__name__} cannot embed: its scores are no products of vectors.")
    rows = pd.concat(parts, ignore_index=True)
    vectors: Vectors = np.stack(rows.pop("vector").to_list())
    return _add_text_and_boxes(rows, inputs), vectors


def embed_true_regions(model: str, true_regions: str, threads: int, output: str) -> None:
    """The job that embeds the true boxes' regions (REGION_FEATURES) by a trained model (EMBEDDINGS)."""
    device = set_up(threads)
    method, store = load_model(model).to(device), FeatureStore([true_regions], REGION_FEATURES)
    with evaluation(method):
        vectors = [
            method.embed_regions(torch.from_numpy(store.gather(rows)).float().to(device)).cpu().numpy()
            for rows in progress(batches(len(store), ROWS_AT_ONCE), "regions")
        ]
    rows = store.rows[["image_id", "rank", *BOX]].assign(kind="region")
    _write(_complete(rows), np.concatenate(vectors), output)


def region_vectors(method: Method, pairs: Pairs, images: Indices) -> tuple[Tensor, Tensor]:
    """(I, R, dimension) vectors of the regions of some images, zero where there is none; and (I, R) bool."""
    batch = to_device(pairs.images(images), module_device(method))
    vectors = method.embed_regions(batch.views["regions"][batch.present])
    padded = vectors.new_zeros(*batch.present.shape, vectors.shape[1])
    padded[batch.present] = vectors
    return padded, batch.present


def phrase_vectors(method: Method, pairs: Pairs, sentences: Indices) -> tuple[pd.DataFrame, Tensor]:
    """Noun phrases of some sentences: rows (sentence, caption_id, image_id, start, end) and their vectors."""
    forest = pairs.forest()
    batch = to_device(pairs.sentences(sentences), module_device(method))
    found = method.embed_phrases(batch)
    node = found.node.cpu().numpy()
    start, end = forest.spans(sentences)
    sentence = sentences[found.sentence.cpu().numpy()]
    rows = pd.DataFrame(
        {
            "sentence": sentence,
            "caption_id": pairs.rows.caption_ids[sentence],
            "image_id": pairs.rows.image_ids[pairs.rows.image_of_caption[sentence]],
            "start": start[node].astype(np.int32),
            "end": end[node].astype(np.int32),
        }
    )
    return rows, found.vectors


def add_text(rows: pd.DataFrame, inputs: Inputs) -> pd.DataFrame:
    """`rows` with `text`: the parser's tokens from `start` to `end` of each one's `caption_id`."""
    caption, captions = pd.factorize(rows["caption_id"])
    text = np.empty(len(rows), object)
    order = np.argsort(caption, kind="stable")  # the rows of a caption, one after the other
    first = np.searchsorted(caption[order], np.arange(len(captions) + 1))
    start, end = rows["start"].to_numpy(), rows["end"].to_numpy()
    for place, tokens in inputs.parses(captions.to_numpy(object), ["tokens"]):
        for row in order[first[place] : first[place + 1]]:
            text[row] = " ".join(tokens[start[row] : end[row]])
    return rows.assign(text=text)


def _images(method: Method, pairs: Pairs, rows: Indices) -> pd.DataFrame:
    vectors = method.embed_images(to_device(pairs.images(rows), module_device(method)))
    return _rows("image", vectors, image_id=pairs.rows.image_ids[rows], rank=WHOLE_IMAGE)


def _regions(method: Method, pairs: Pairs, rows: Indices) -> pd.DataFrame:
    """The detections as rows; the whole image, rank 0, is a row of another kind."""
    vectors, present = region_vectors(method, pairs, rows)
    image, rank = present.cpu().numpy().nonzero()
    image, rank = image[rank != WHOLE_IMAGE], rank[rank != WHOLE_IMAGE]
    return _rows("region", vectors[image, rank], image_id=pairs.rows.image_ids[rows[image]], rank=rank)


def _sentences(method: Method, pairs: Pairs, rows: Indices) -> pd.DataFrame:
    vectors = method.embed_sentences(to_device(pairs.sentences(rows), module_device(method)))
    image_id = pairs.rows.image_ids[pairs.rows.image_of_caption[rows]]
    return _rows("sentence", vectors, caption_id=pairs.rows.caption_ids[rows], image_id=image_id)


def _phrases(method: Method, pairs: Pairs, rows: Indices) -> pd.DataFrame:
    found, vectors = phrase_vectors(method, pairs, rows)
    return _rows("phrase", vectors, **{name: found[name] for name in ("caption_id", "image_id", "start", "end")})


def _words(method: Method, inputs: Inputs, rows: Indices) -> pd.DataFrame:
    words = torch.from_numpy(rows + UNKNOWN + 1).to(module_device(method))
    return _rows("word", method.embed_words(words), text=[inputs.vocabulary.words[row] for row in rows])


def _rows(kind: str, vectors: Tensor, **columns: Any) -> pd.DataFrame:
    stored: Vectors = vectors.float().cpu().numpy()
    return pd.DataFrame({"vector": list(stored), "kind": kind, **columns})


def _add_text_and_boxes(rows: pd.DataFrame, inputs: Inputs) -> pd.DataFrame:
    """`rows` with the words of sentences and phrases and the boxes of images and regions."""
    rows = _complete(rows)
    sentence, phrase = (rows["kind"] == "sentence"), (rows["kind"] == "phrase")
    if sentence.any():
        texts = schema.read(inputs.files.input_path("caption_table"), CAPTIONS, ["caption_id", "text"])
        rows.loc[sentence, "text"] = rows.loc[sentence, "caption_id"].map(texts.set_index("caption_id")["text"])
    if phrase.any():
        rows.loc[phrase, "text"] = add_text(rows[phrase], inputs)["text"]
    if inputs.has_region_views:
        boxes = inputs.regions.rows[["image_id", "rank", *BOX]]
        rows = rows.drop(columns=BOX).merge(boxes, on=["image_id", "rank"], how="left")
        rows[BOX] = rows[BOX].fillna(0.0)
    return rows


def _write(rows: pd.DataFrame, vectors: Vectors, output: str | Path) -> None:
    with FeatureWriter(output, EMBEDDINGS, vectors.shape[1:], np.float16) as file:
        file.append(rows, vectors)


def _complete(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` with every column of EMBEDDINGS."""
    missing = {name: value for name, value in _NOTHING.items() if name not in rows}
    filled = rows.assign(**missing).fillna(_NOTHING)
    return filled.astype({"start": np.int32, "end": np.int32, "rank": np.int32, **dict.fromkeys(BOX, np.float32)})


def assign_regions(
    start: str,
    round: int,
    threads: int,
    wildcards: Mapping[str, str],
    output: str,
    true_boxes: str | None = None,
    **files: str | list[str],
) -> None:
    """The job that assigns a region to each noun phrase of the training split, as a round is trained on them.

    `start` is the model of the round before, and `files` are its inputs. With BOXES rows as `true_boxes`, these decide
    in place of the model. Raises `InputError` as `open_model` and `match_true_boxes` do.
    """
    check_round(start, {**wildcards, "round": str(round - 1)})
    inputs, method = open_model(Files(files), start, set_up(threads), "embed_regions", "embed_phrases", "assign")
    true = None if true_boxes is None else schema.read(true_boxes, BOXES)
    write_correspondences(method, inputs, "train", output, true)


def write_correspondences(
    method: Method, inputs: Inputs, split: str, output: str | Path, true: pd.DataFrame | None = None
) -> None:
    """Assigns a region to each noun phrase of a split's sentences, and writes a CORRESPONDENCES artifact.

    With `true` BOXES rows, these decide in place of the method.
    """
    found = find_correspondences(method, inputs, split)
    if true is not None:
        found = match_true_boxes(found, true, inputs.regions.rows)
    schema.write(found, CORRESPONDENCES, output)


def find_correspondences(method: Method, inputs: Inputs, split: str) -> pd.DataFrame:
    """CORRESPONDENCES rows: each noun phrase of a split's sentences with the best region of its image."""
    pairs = inputs.pairs(split)
    described = np.unique(pairs.rows.image_of_caption)  # an image without a sentence has no phrase
    parts = progress(batches(len(described), IMAGES_AT_ONCE), f"regions of {split} phrases")
    with evaluation(method):
        assigned = [_assign_batch(method, pairs, described[part]) for part in parts]
    rows = add_text(pd.concat(assigned, ignore_index=True), inputs).rename(columns={"text": "phrase"})
    return rows.merge(_boxes(inputs.regions.rows), on=["image_id", "region"], how="left", validate="many_to_one")


def match_true_boxes(rows: pd.DataFrame, true: pd.DataFrame, regions: pd.DataFrame) -> pd.DataFrame:
    """CORRESPONDENCES rows with the region that overlaps a true box of the phrase most, at confidence 1.

    `true` holds BOXES rows, `regions` REGION_FEATURES rows. A phrase is left out if no region overlaps one of its boxes
    by `RIGHT_OVERLAP`. Raises `InputError` if no phrase remains.
    """
    true, boxes = true_boxes_of_phrases(true), _boxes(regions)
    firsts = range(0, len(rows) or 1, PHRASES_AT_ONCE)  # one part at least, even without phrases
    best = pd.concat(
        [_overlapping_regions(rows.iloc[first : first + PHRASES_AT_ONCE], true, boxes) for first in firsts]
    )
    if best.empty:
        raise InputError(f"none of {len(rows)} phrases has a region that overlaps a true box of it by {RIGHT_OVERLAP}.")
    return best.reset_index(drop=True)


def _overlapping_regions(rows: pd.DataFrame, true: pd.DataFrame, boxes: pd.DataFrame) -> pd.DataFrame:
    """The rows whose phrase has a true box that one of its image's boxes overlaps by `RIGHT_OVERLAP`, with that box."""
    pairs = rows.drop(columns=["region", "confidence", *BOX]).merge(true, on=PHRASE).merge(boxes, on="image_id")
    overlap = intersection_over_union(pairs[BOX].to_numpy(float), pairs[TRUE_BOX].to_numpy(float))
    pairs = pairs.assign(confidence=np.float32(1), overlap=overlap)[overlap >= RIGHT_OVERLAP]
    best = pairs.sort_values("overlap", ascending=False, kind="stable").drop_duplicates(PHRASE).sort_index()
    return best[rows.columns]


def _boxes(regions: pd.DataFrame) -> pd.DataFrame:
    """The boxes of REGION_FEATURES rows, by image and by region number."""
    return regions[["image_id", "rank", *BOX]].rename(columns={"rank": "region"})


def _assign_batch(method: Method, pairs: Pairs, images: Indices) -> pd.DataFrame:
    """The rows of some images with sentences, between which is no other one; still without words and boxes."""
    first, last = np.searchsorted(pairs.rows.image_of_caption, [images[0], images[-1] + 1])
    rows, h = phrase_vectors(method, pairs, np.arange(first, last))
    regions, present = region_vectors(method, pairs, images)
    image = np.searchsorted(images, pairs.rows.image_of_caption[rows.pop("sentence")])
    of_phrase = to_device(torch.from_numpy(image), regions.device)
    region, confidence = method.assign(regions[of_phrase], present[of_phrase], h)
    return rows.assign(region=region.cpu().numpy().astype(np.int32), confidence=confidence.cpu().numpy())
