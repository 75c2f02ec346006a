"""Baselines for generated sentences: the sentence of the nearest training image, and one person's sentence.

In people's judgement, copied sentences beat generating models (MS-COCO challenge 2015), so tables include them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.artifacts.schemas.sentences import TOKENS
from densevse.language.words import drop_punctuation
from snakeproof import schema
from snakeproof.store import FeatureStore

_AT_ONCE = 256  # images


def copy_captions(train: str, asked: str, captions: str, tokens: str, output: str) -> None:
    """The job that writes, for each image of a split, the first sentence of the nearest training image.

    `train` and `asked` are the EMBEDDINGS of the training images and of the split. Nearest means in the joint space;
    ties are broken by table order.
    """
    known, images = _read_images(train), _read_images(asked)
    nearest = [
        _nearest_training_images(known.vectors, images.vectors[n : n + _AT_ONCE])
        for n in range(0, len(images.ids), _AT_ONCE)
    ]
    number, score = (np.concatenate(parts) for parts in zip(*nearest, strict=True))
    first = _first_sentences(captions, tokens)
    rows = first.loc[known.ids[number]].assign(image_id=images.ids, score=score, translation=score)
    _write_captions(rows, tokens, output, writer="copied")


def write_first_captions(images: str, captions: str, tokens: str, wildcards: Mapping[str, str], output: str) -> None:
    """The job that writes the first sentence that a person wrote about each readable image of a split."""
    known = schema.read(images, IMAGES, ["image_id", "split", "status"])
    ids = known.loc[(known["split"] == wildcards["split"]) & (known["status"] == "ok"), "image_id"]
    rows = _first_sentences(captions, tokens).reindex(ids).dropna(subset="sentence")
    rows = rows.assign(image_id=rows.index, score=0.0, translation=np.nan)
    _write_captions(rows, tokens, output, writer="person", seed=0)


@dataclass(frozen=True)
class _Images:
    """Images with their vectors, in the order of the file."""

    ids: NDArray[np.object_]
    vectors: NDArray[np.float32]  # (images, dimension)


def _read_images(path: str) -> _Images:
    store = FeatureStore([path], EMBEDDINGS)
    rows = np.flatnonzero(store.rows["kind"] == "image")
    return _Images(store.rows["image_id"].to_numpy(object)[rows], store.gather(rows).astype(np.float32))


def _nearest_training_images(
    train: NDArray[np.float32], asked: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The training image with the largest product, and the product."""
    scores = asked @ train.T
    best = scores.argmax(axis=1)
    return best, scores[np.arange(len(best)), best]


def _first_sentences(captions: str, tokens: str) -> pd.DataFrame:
    """The sentence and the tokens of each image's first caption, by image_id."""
    rows = schema.read(captions, CAPTIONS, ["caption_id", "image_id", "position", "text"])
    first = rows.sort_values("position", kind="stable").drop_duplicates("image_id")
    words = schema.read(tokens, TOKENS, ["caption_id", "tokens"]).set_index("caption_id")["tokens"]
    found = first.assign(tokens=words[first["caption_id"]].to_numpy()).rename(columns={"text": "sentence"})
    return found.set_index("image_id")[["sentence", "tokens"]]


def _write_captions(rows: pd.DataFrame, tokens: str, path: str, **found: str | int) -> None:
    sentences = schema.read(tokens, TOKENS, ["split", "tokens"])
    known: Collection[tuple[str, ...]] = set(
        map(drop_punctuation, sentences.loc[sentences["split"] == "train", "tokens"])
    )
    copied = [drop_punctuation(words) in known for words in rows["tokens"]]
    none: pd.Series = pd.Series([[] for _ in copied], index=rows.index, dtype=object)
    rows = rows.assign(rank=1, log_likelihood=np.nan, language=np.nan, in_training=copied, tags=none)
    missing = dict.fromkeys(("log_likelihood", "translation", "language"), "Float64")
    columns = [column.name for column in GENERATED.columns]
    schema.write(rows.astype(missing)[columns], GENERATED, path, **found)
