"""Views with one vector or grid for each image, read from memory-mapped features or, in training, from a GPU."""

from abc import ABC, abstractmethod
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
from densevse.methods.moving import Stored
from densevse.runtime.arrays import Indices, run_starts
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore

MISSING = -1
"""The number of a row that does not exist: its values are zero."""

_BYTES_AT_ONCE = 2**26
"""Of vectors that are read to fill the memory of a GPU."""


class VectorSource(ABC):
    """The vectors of a feature store, by the numbers of its rows."""

    @abstractmethod
    def take(self, rows: Indices) -> Tensor | Stored:
        """(..., D) vectors of the rows (...), as a batch holds them; zero where `MISSING`."""


class InFiles(VectorSource):
    """Vectors that are read for each batch, and are in float32 there."""

    def __init__(self, store: FeatureStore) -> None:
        self._store = store

    def take(self, rows: Indices) -> Tensor | Stored:
        """(..., D) float32 vectors."""
        return self._read_vectors(rows).float()

    def _read_vectors(self, rows: Indices) -> Tensor:
        """(..., D) vectors in the precision of the files."""
        found, missing = self._store.gather(np.maximum(rows, 0).ravel()), (rows == MISSING).ravel()
        found[missing] = 0
        return torch.from_numpy(found).view(*rows.shape, *self._store.shape)


class InFilesForGPU(InFiles):
    """Vectors that are read for each batch, and become float32 on a GPU."""

    def take(self, rows: Indices) -> Stored:
        """(..., D) vectors in the precision of the files."""
        return Stored(self._read_vectors(rows))


class OnGPU(VectorSource):
    """Vectors that are all on a GPU, in the precision of the files."""

    def __init__(self, store: FeatureStore, rows: Indices, device: torch.device) -> None:
        """Reads some rows of a store, once. Raises `InputError` if a file is damaged there."""
        self._rows = np.unique(rows)
        at_once = max(1, _BYTES_AT_ONCE // store.row_bytes)
        dtype = torch.from_numpy(np.empty(0, store.dtype)).dtype
        self._table = torch.zeros(len(self._rows) + 1, *store.shape, dtype=dtype, device=device)  # the last is missing
        for start in range(0, len(self._rows), at_once):
            some = self._rows[start : start + at_once]
            self._table[start : start + len(some)] = torch.from_numpy(store.gather(some)).to(device)

    def take(self, rows: Indices) -> Stored:
        """Numbers (...) in the table on the GPU."""
        place = np.where(rows == MISSING, len(self._rows), np.searchsorted(self._rows, rows))
        return Stored(torch.from_numpy(place), self._table)


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
