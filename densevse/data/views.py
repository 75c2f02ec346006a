"""Views of images: their features, gathered from memory-mapped files."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.store import FeatureStore
from densevse.data.ragged import Indices, Ragged
from densevse.runtime.errors import InputError


class View:
    """A view that has one vector or grid for each image: whole, centre, ten_crop, grid, concepts.

    `image_ids` names the images of a split in order. Raises `InputError` naming the first image that has no features.
    """

    def __init__(self, store: FeatureStore, image_ids: Sequence[str] | NDArray[np.object_], name: str) -> None:
        ids = store.rows["image_id"].to_numpy(dtype=object)
        begins = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1]))) if len(ids) else np.empty(0, np.int64)
        number = {image_id: begin for begin, image_id in enumerate(ids[begins])}
        if len(number) < len(begins):
            raise InputError(f"{name} features: the rows of an image do not stand together; make the files anew.")
        missing = [image_id for image_id in image_ids if image_id not in number]
        if missing:
            raise InputError(
                f"{name} features: {len(missing)} images have none, the first is {missing[0]!r}. Delete the feature "
                "files of this data set and run snakemake again to make them anew."
            )
        self._store, self._images = store, np.array([number[image_id] for image_id in image_ids], np.int64)
        self._rows = Ragged(np.append(begins, len(ids)))

    def take(self, images: Indices) -> Tensor:
        """(images, ...) float32 features of some of the split's images."""
        return self._gather(self._rows.first[self._images[images]])

    def _gather(self, rows: Indices) -> Tensor:
        return torch.from_numpy(self._store.gather(rows)).float()


class Regions(View):
    """A view that has several vectors for each image: its regions, of which the first is the whole image.

    Raises `InputError` besides if an image's regions are not numbered 0, 1, ...
    """

    def __init__(self, store: FeatureStore, image_ids: Sequence[str] | NDArray[np.object_], name: str) -> None:
        super().__init__(store, image_ids, name)
        every = np.arange(len(self._rows.first) - 1)
        if (store.rows["rank"].to_numpy() != self._rows.take(every)[2]).any():
            raise InputError(f"{name} features: the ranks of an image's regions are not 0, 1, ...; make them anew.")
        self._scores = store.rows["score"].to_numpy(np.float32, copy=True)
        self._scores[store.rows["rank"] == 0] = np.inf

    def all_of(self, images: Indices) -> tuple[Indices, Indices]:
        """Every region of some images: which of the images it belongs to, and its rank."""
        _, owner, rank = self._rows.take(self._images[images])
        return owner, rank

    def take_some(self, images: Indices, owner: Indices, rank: Indices) -> tuple[Tensor, Tensor, Tensor]:
        """Some regions of some images, given by owner (which of the images; in rising order) and rank.

        Returns (images, R, ...) features, R the most regions that are asked for of one image, zero where there
        is none; (images, R) bool, which of them exist; and (images, R) their class scores, infinite for whole images.
        """
        counts = np.bincount(owner, minlength=len(images))
        place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = self._rows.first[self._images[images]][owner] + rank
        vectors = self._gather(rows)
        present = torch.zeros(len(images), int(counts.max(initial=1)), dtype=torch.bool)
        present[owner, place] = True
        padded = vectors.new_zeros(*present.shape, *vectors.shape[1:])
        padded[present] = vectors
        scores = torch.zeros(present.shape)
        scores[present] = torch.from_numpy(self._scores[rows])
        return padded, present, scores


def view(store: FeatureStore, image_ids: Sequence[str] | NDArray[np.object_], name: str) -> View:
    """The view that a feature artifact holds, of the images of a split."""
    return (Regions if store.schema == REGION_FEATURES else View)(store, image_ids, name)
