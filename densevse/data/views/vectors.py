"""Views with one vector or grid for each image, read from memory-mapped features."""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.data.files import Artifacts
from densevse.data.ragged import Ragged
from densevse.data.views import View
from densevse.data.views.tables import InFiles, InFilesForGPU, OnGPU, VectorSource
from densevse.methods.moving import Stored
from densevse.runtime.arrays import Indices, run_starts
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore


class VectorsOfImages(View):
    """The rows of a feature artifact that belong to the given images.

    `image_ids` names the images of a split in order. Raises `InputError` that names the first image without features.
    """

    features = IMAGE_FEATURES

    def __init__(self, store: FeatureStore, image_ids: Sequence[str] | NDArray[np.object_], name: str) -> None:
        ids = store.rows["image_id"].to_numpy(dtype=object)
        begins = run_starts(ids)
        number = {image_id: begin for begin, image_id in enumerate(ids[begins])}
        if len(number) < len(begins):
            raise InputError(f"{name} features: the rows of an image are not consecutive; delete the files.")
        missing = [image_id for image_id in image_ids if image_id not in number]
        if missing:
            raise InputError(
                f"{name} features: {len(missing)} images have none, the first is {missing[0]!r}. Delete the feature "
                "files of this data set and run snakemake again."
            )
        self._store, self._images = store, np.array([number[image_id] for image_id in image_ids], np.int64)
        self._rows = Ragged(np.append(begins, len(ids)))
        self._vectors: VectorSource = InFiles(store)

    @classmethod
    def read(cls, artifacts: Artifacts, name: str, image_ids: NDArray[np.object_]) -> Self:
        """Opens the view's features."""
        return cls(artifacts.stores[name], image_ids, name)

    def take(self, images: Indices) -> Tensor | Stored:
        """(images, ...) float32 features of some of the split's images."""
        return self._vectors.take(self._row(images, 0))

    def send_to(self, device: torch.device, most: int, images: Indices, ranks: Indices) -> int:
        """Keeps the features on the GPU if they fit into `most` bytes; else they are sent with each batch."""
        rows = np.unique(self._row(images, ranks))
        size = len(rows) * self._store.row_bytes
        self._vectors = OnGPU(self._store, rows, device) if size <= most else InFilesForGPU(self._store)
        return size if size <= most else 0

    def _row(self, images: Indices, rank: Indices | int) -> Indices:
        """The rows of some images' vectors of some ranks."""
        row: Indices = self._rows.first[self._images[images]] + rank
        return row


VIEW = VectorsOfImages
