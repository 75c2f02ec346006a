"""Vectors of a test split by an encoder in a folder, as a given row has them."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from safetensors.numpy import save_file

from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.config.networks import NetworkSettings
from densevse.config.registries import find_library
from densevse.data.distinct import digest_content
from densevse.evaluation.protocols import select_split
from densevse.models.encoding import batches
from densevse.runtime.numerics import set_up
from snakeproof import schema
from snakeproof.logs import logger, progress
from snakeproof.seals import sealed_file
from snakeproof.statements import statement_metadata
from snakeproof.strict import validate

ENCODED_BY = "encoded_by"
"""The key with what made the vectors, in words."""


def encode_test_split(
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    network: Mapping[str, Any],
    ranked_sentences: str,
    folder: str,
    output: str,
    threads: int,
) -> None:
    """The job that writes the vectors `images` and `sentences` of a test split, of float32, in the data set's order.

    They are (items, D), or (items, n, D) where zeros fill up items of fewer vectors. Equal images, and equal sentences,
    are encoded once. An image that cannot be read has zeros, as it is not ranked. Raises `InputError` as the encoder of
    the `folder` does.
    """
    set_up(threads)
    settings = validate(NetworkSettings, dict(network), "networks")
    library = find_library(settings.architecture)
    assert library is not None  # the configuration guarantees it
    encoder: Any = import_module(library.implementation).encoder(settings, folder)
    images, captions = schema.read(image_table, IMAGES), schema.read(caption_table, CAPTIONS)
    split = select_split(images.assign(status="ok"), captions, sentences=ranked_sentences)
    texts = captions.set_index("caption_id")["text"].loc[split.caption_ids.tolist()].tolist()
    rows = images.set_index("image_id").loc[split.image_ids.tolist()]
    cut = encoder.count_cut(texts)
    logger.info("%d of %d sentences have more tokens than the model reads and are cut", cut, len(texts))
    found = {
        "images": _fill_up(_encode_images(encoder, rows, Photographs(sources, images), settings.batch_size)),
        "sentences": _fill_up(_encode_sentences(encoder, texts)),
    }
    described = {"architecture": settings.architecture, **encoder.describe(), "sentences cut": f"{cut:,}"}
    with sealed_file(output) as temporary:
        save_file(found, temporary, statement_metadata(**{ENCODED_BY: described}))


def _encode_sentences(encoder: Any, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    distinct = list(dict.fromkeys(texts))
    vectors = dict(zip(distinct, encoder.encode_sentences(distinct), strict=True))
    return [vectors[text] for text in texts]


def _encode_images(
    encoder: Any, rows: pd.DataFrame, files: Photographs, in_batch: int
) -> list[NDArray[np.float32] | None]:
    """The vectors of each image of a table, None of those that cannot be read."""
    named = list(zip(rows["source"], rows["file"], rows["status"], strict=True))
    kinds: list[bytes | None] = []
    vectors: dict[bytes, NDArray[np.float32]] = {}
    for some in progress(batches(len(rows), in_batch), "images, batches", -(-len(rows) // in_batch)):
        new = {}
        for source, file, status in named[some[0] : some[-1] + 1]:
            if status != "ok":
                kinds.append(None)
                continue
            pixels = files.pixels(source, file)
            kind = digest_content(pixels)
            kinds.append(kind)
            if kind not in vectors:
                new[kind] = pixels
        vectors.update(zip(new, encoder.encode_images([*new.values()]) if new else (), strict=True))
    return [None if kind is None else vectors[kind] for kind in kinds]


def _fill_up(vectors: Sequence[NDArray[np.float32] | None]) -> NDArray[np.float32]:
    """(items, D), or (items, n, D) where zeros fill up items of fewer vectors; None is zeros."""
    shapes = [one.shape for one in vectors if one is not None]
    filled = np.zeros((len(vectors), *np.max(shapes, axis=0)), np.float32)
    for own, one in zip(filled, vectors, strict=True):
        if one is not None:
            own[tuple(map(slice, one.shape))] = one
    return filled
