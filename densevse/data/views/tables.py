"""Reads the vectors of a view: from the files or, in training on a GPU, from its memory."""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from densevse.methods.moving import Stored
from densevse.runtime.arrays import Indices
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
