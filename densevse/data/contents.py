"""Contents for generators: vectors of a joint space or a view of images, with the sentences about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.data.inputs import Inputs, Pairs
from densevse.methods.interface import Sentences
from densevse.runtime.arrays import Indices
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore

JOINT_EMBEDDING = "joint_embedding_"  # prefix of inputs: joint_embedding_<split> is the EMBEDDINGS artifact of a split


class Embedded:
    """The vectors of some images or sentences in the joint space of a trained model."""

    def __init__(self, path: str, kind: str, ids: Sequence[str] | NDArray[np.object_]) -> None:
        """`kind` is image or sentence, `ids` are their ids in order. Raises `InputError` if an id has no vector."""
        self._store = FeatureStore([path], EMBEDDINGS)
        rows = self._store.rows
        found = rows.loc[rows["kind"] == kind, {"image": "image_id", "sentence": "caption_id"}[kind]]
        number = pd.Index(found).get_indexer(pd.Index(ids))
        if (number < 0).any():
            raise InputError(
                f"{path}: the {kind} {ids[int(np.argmin(number))]!r} has no vector; the file was made of another data "
                "set or split. Delete it and run snakemake again."
            )
        self._rows = found.index.to_numpy()[number]
        self.size = int(self._store.shape[0])

    def __len__(self) -> int:
        """The number of images or sentences."""
        return len(self._rows)

    def take(self, rows: Indices) -> Tensor:
        """(n, dimension) float32 vectors of some of them."""
        return torch.from_numpy(self._store.gather(self._rows[rows])).float()


class ViewOfImages:
    """A view of some images of a split, which a generator reads if it has no joint space."""

    def __init__(self, pairs: Pairs, view: str, size: int) -> None:
        self._pairs, self._view, self.size = pairs, view, size

    def __len__(self) -> int:
        """The number of images."""
        return len(self._pairs.rows.image_ids)

    def take(self, rows: Indices) -> Tensor:
        """(n, D) float32 vectors of some of the images."""
        return self._pairs.images(rows).views[self._view]


Contents: TypeAlias = Embedded | ViewOfImages


def content_of_images(inputs: Inputs, pairs: Pairs, split: str) -> Contents:
    """The contents of a split's images, about which a generator writes sentences."""
    if f"{JOINT_EMBEDDING}{split}" in inputs.files:
        return Embedded(inputs.files.input_path(f"{JOINT_EMBEDDING}{split}"), "image", pairs.rows.image_ids)
    (view,) = inputs.stores
    return ViewOfImages(pairs, view, int(inputs.stores[view].shape[0]))


@dataclass(frozen=True)
class ContentBatch:
    """Training sentences with their contents."""

    content: Tensor  # (S, D)
    sentences: Sentences


class SentencesWithContent:
    """The sentences of a split, each with its own vector in the joint space or with its image's view."""

    def __init__(self, inputs: Inputs, pairs: Pairs, split: str) -> None:
        self._pairs = pairs
        path = f"{JOINT_EMBEDDING}{split}"
        self._own = path in inputs.files
        self._content = (
            Embedded(inputs.files.input_path(path), "sentence", pairs.rows.caption_ids)
            if self._own
            else content_of_images(inputs, pairs, split)
        )
        self.size = self._content.size

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self._pairs.rows.caption_ids)

    def batch(self, sentences: Indices) -> ContentBatch:
        """Some sentences."""
        rows = sentences if self._own else self._pairs.rows.image_of_caption[sentences]
        return ContentBatch(self._content.take(rows), self._pairs.sentences(sentences))
