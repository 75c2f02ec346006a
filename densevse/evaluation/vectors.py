"""Scores of vectors: identical vectors have identical scores wherever they stand, so that they tie.

Libraries compute parts of a product by different kernels, whose last bits differ. Products of float32 are exact in
float64, and float32, to which their sum is rounded, has none of the last bits of float64.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densevse.runtime.arrays import Indices

Vectors = NDArray[Any]
_CHOSEN, _SUMMED = 1024, 4096
"""So many vectors of either side are compared at once: their products are 32 MB. Smaller products wait for threads."""


class SeveralVectors(NamedTuple):
    """Items with several vectors each, such as an image's regions or a sentence's words."""

    vectors: Vectors  # (N, D), those of an item one after the other
    counts: Indices  # (items,) the number of each, none 0

    def parts(self, most: int) -> Iterator[tuple[slice, slice]]:
        """Consecutive items with their vectors, at most so many vectors or one item."""
        ends = self.counts.cumsum()
        item = start = 0
        while item < len(ends):
            after = max(item + 1, int(np.searchsorted(ends, start + most, "right")))
            end = int(ends[after - 1])
            yield slice(item, after), slice(start, end)
            item, start = after, end


def products(images: Vectors, sentences: Vectors) -> Vectors:
    """(I, S) inner products of (I, D) and (S, D) vectors, in float32."""
    return (images.astype(np.float64) @ sentences.astype(np.float64).T).astype(np.float32)


def max_sums(chosen: SeveralVectors, summed: SeveralVectors) -> Vectors:
    """(C, S) sums over the vectors of an item of `summed` of the largest inner product with one of `chosen`, float32.

    With images as `chosen` and sentences as `summed` it is S_kl of DeepVS (Karpathy, Fei-Fei, CVPR 2015, Eq 8). With
    queries as `summed` it is the score of ColBERT (Khattab, Zaharia, SIGIR 2020, Eq 3). Sums of float32 are exact in
    float64, unless their terms differ by orders of magnitude, so that their order is of no account.
    """
    found = np.empty((len(chosen.counts), len(summed.counts)), np.float32)
    of_chosen = chosen.vectors.astype(np.float64)
    for columns, place in summed.parts(_SUMMED):
        counts, vectors = summed.counts[columns], summed.vectors[place].astype(np.float64).T
        starts = counts.cumsum() - counts
        for rows, own in chosen.parts(_CHOSEN):
            ends = chosen.counts[rows].cumsum()
            of_items = np.split(of_chosen[own] @ vectors, ends[:-1])
            best = np.stack([scores.max(axis=0) for scores in of_items]).astype(np.float32)
            found[rows, columns] = np.add.reduceat(best, starts, axis=1, dtype=np.float64)
    return found


def order_scores(images: Vectors, sentences: Vectors) -> Vectors:
    """(I, S) scores of order embeddings, -||max(0, v - u)||^2 of sentence v and image u (Vendrov et al. 2016, Eq 2).

    `densevse.kernels.order` has them with a gradient, for training.
    """
    found, violation = np.empty((len(images), len(sentences)), sentences.dtype), np.empty_like(sentences)
    for image, scores in zip(images, found, strict=True):
        np.maximum(np.subtract(sentences, image, out=violation), 0, out=violation)
        np.einsum("sd,sd->s", violation, violation, out=scores)
    return np.negative(found, out=found)
