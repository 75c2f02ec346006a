"""The features of some images, gathered from memory-mapped files."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.store import FeatureStore
from densevse.errors import InputError
from densevse.training.ragged import Indices, Ragged


class Features:
    """A view's features of the images of a split, which `image_ids` names in order.

    Raises `InputError` naming the first image that has no features, or whose regions are not numbered 0, 1, ...
    """

    def __init__(self, store: FeatureStore, image_ids: Sequence[str] | NDArray[np.object_], view: str) -> None:
        ids = store.rows["image_id"].to_numpy(dtype=object)
        begins = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1]))) if len(ids) else np.empty(0, np.int64)
        number = {image_id: begin for begin, image_id in enumerate(ids[begins])}
        if len(number) < len(begins):
            raise InputError(f"{view} features: the rows of an image do not stand together; make the files anew.")
        missing = [image_id for image_id in image_ids if image_id not in number]
        if missing:
            raise InputError(
                f"{view} features: {len(missing)} images have none, the first is {missing[0]!r}. Delete the feature "
                "files of this data set and run snakemake again to make them anew."
            )
        self._store, self._images = store, np.array([number[image_id] for image_id in image_ids], np.int64)
        self._rows = Ragged(np.append(begins, len(ids)))
        self.regions = store.schema == REGION_FEATURES
        self.most = int(self._rows.lengths(self._images).max(initial=1)) if self.regions else 1
        if self.regions and (store.rows["rank"].to_numpy() != self._rows.take(np.arange(len(begins)))[2]).any():
            raise InputError(f"{view} features: the ranks of an image's regions are not 0, 1, ...; make them anew.")

    def gather(self, images: Indices) -> tuple[Tensor, Tensor]:
        """Float32 features of some of the split's images, and which of their regions exist (no columns otherwise).

        (images, ...) as stored; regions are (images, most regions of any image, ...), zero where there is none.
        """
        rows, owner, place = self._rows.take(self._images[images])
        vectors = torch.from_numpy(self._store.gather(rows)).float()
        if not self.regions:
            return vectors, torch.ones(len(images), 0, dtype=torch.bool)
        present = torch.zeros(len(images), self.most, dtype=torch.bool)
        present[owner, place] = True
        padded = vectors.new_zeros(len(images), self.most, *self._store.shape)
        padded[present] = vectors
        return padded, present
