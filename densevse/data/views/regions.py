"""The view `regions`: the vectors of an image's regions, of which the first is the whole image."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.data.views import ViewOfRegions
from densevse.data.views.vectors import MISSING, VectorsOfImages
from densevse.methods.moving import Stored
from densevse.runtime.arrays import Indices
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore


class RegionsOfImages(VectorsOfImages, ViewOfRegions):
    """The rows of a feature artifact that are regions of the given images.

    Also raises `InputError` if an image's regions are not numbered 0, 1, ...
    """

    features = REGION_FEATURES

    def __init__(self, store: FeatureStore, image_ids: Sequence[str] | NDArray[np.object_], name: str) -> None:
        super().__init__(store, image_ids, name)
        every = np.arange(len(self._rows.first) - 1)
        if (store.rows["rank"].to_numpy() != self._rows.take(every)[2]).any():
            raise InputError(f"{name} features: ranks of an image's regions are not 0, 1, ...; delete the files.")
        self._scores = store.rows["score"].to_numpy(np.float32, copy=True)
        self._scores[store.rows["rank"] == 0] = np.inf

    def all_regions(self, images: Indices) -> tuple[Indices, Indices]:
        """Every region of some images: the image (counted among those asked for) and the rank of each."""
        _, owner, rank = self._rows.take(self._images[images])
        return owner, rank

    def take_regions(self, images: Indices, owner: Indices, rank: Indices) -> tuple[Tensor | Stored, Tensor, Tensor]:
        """(images, R, ...) features of some regions, a mask of those that exist, and their class scores."""
        counts = np.bincount(owner, minlength=len(images))
        present = np.arange(counts.max(initial=1)) < counts[:, None]
        rows, scores = np.full(present.shape, MISSING), np.zeros(present.shape, np.float32)
        rows[present] = self._row(images[owner], rank)
        scores[present] = self._scores[rows[present]]
        return self._values(rows), torch.from_numpy(present), torch.from_numpy(scores)

    def _values(self, rows: Indices) -> Tensor | Stored:
        return self._vectors.take(rows)


VIEW = RegionsOfImages
