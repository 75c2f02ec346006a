"""Scores of vectors: identical vectors have identical scores wherever they stand, so that they tie.

Libraries compute parts of a product by different kernels, whose last bits differ. Products of float32 are exact in
float64, and float32, to which their sum is rounded, has none of the last bits of float64.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[Any]


def products(images: Vectors, sentences: Vectors) -> Vectors:
    """(I, S) inner products of (I, D) and (S, D) vectors, in float32."""
    return (images.astype(np.float64) @ sentences.astype(np.float64).T).astype(np.float32)


def order_scores(images: Vectors, sentences: Vectors) -> Vectors:
    """(I, S) scores of order embeddings, -||max(0, v - u)||^2 of sentence v and image u (Vendrov et al. 2016, Eq 2).

    `densevse.kernels.order` has them with a gradient, for training.
    """
    found, violation = np.empty((len(images), len(sentences)), sentences.dtype), np.empty_like(sentences)
    for image, scores in zip(images, found, strict=True):
        np.maximum(np.subtract(sentences, image, out=violation), 0, out=violation)
        np.einsum("sd,sd->s", violation, violation, out=scores)
    return np.negative(found, out=found)
