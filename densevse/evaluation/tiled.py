"""Compares vectors in tiles of one shape, so that identical vectors have identical scores at any place.

Libraries compute products of different shapes with different kernels, whose last bits differ. In a smaller last tile
identical vectors would have other scores, and would not tie.
"""

from collections.abc import Callable

import torch
from torch import Tensor

TILE = 512


def tiled(compare: Callable[[Tensor, Tensor], Tensor], images: Tensor, sentences: Tensor) -> Tensor:
    """(I, S) scores by `compare` of (I, D) and (S, D) vectors, at least one each."""
    columns = _tiles(sentences)
    found = torch.cat([torch.cat([compare(row, column) for column in columns], dim=1) for row in _tiles(images)])
    return found[: len(images), : len(sentences)]


def products(images: Tensor, sentences: Tensor) -> Tensor:
    """(I, S) inner products of (I, D) and (S, D) vectors."""
    return images @ sentences.T


def _tiles(vectors: Tensor) -> list[Tensor]:
    """Vectors in tiles of one size; copies of the last vector fill the last tile."""
    count = -(-len(vectors) // TILE) * TILE
    padded = torch.cat([vectors, vectors[-1:].expand(count - len(vectors), -1)])
    return list(padded.split(TILE))
