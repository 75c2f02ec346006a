"""Attention to the images and sentences of a split, of methods that can say it (`Method.saliency`)."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from densevse.data.pairs import Pairs
from densevse.inference.encoding import batches, evaluation
from densevse.methods.interface import Method, device_of, to_device
from densevse.runtime.arrays import Indices
from densevse.runtime.logs import progress

Weights = NDArray[np.float32]

_IMAGES_AT_ONCE = 64


def saliency(method: Method, pairs: Pairs) -> Iterator[tuple[Indices, Weights, Weights]]:
    """Yield the saliency of each image's first sentence, some at once.

    As sentences (n,), weights of cells (T, n, cells) and of words (T, n, longest).
    """
    device = device_of(method)
    first = np.unique(pairs.rows.image_of_caption, return_index=True)[1]
    for places in progress(batches(len(first), _IMAGES_AT_ONCE), "saliency"):
        sentences = first[places]
        with evaluation(method):
            images = method.encode_images(to_device(pairs.images(pairs.rows.image_of_caption[sentences]), device))
            encoded = method.encode_sentences(to_device(pairs.sentences(sentences), device))
            matched = torch.arange(len(sentences))
            found = method.saliency(images, encoded, matched, matched)
        yield sentences, found.cells.float().cpu().numpy(), found.words.float().cpu().numpy()


def entropies(method: Method, pairs: Pairs) -> dict[str, float]:
    """The mean entropy of a split's saliency over cells and over words, in nats, over images and steps."""
    found = [[_entropy(weights) for weights in maps] for _, *maps in saliency(method, pairs)]
    cells, words = (float(np.concatenate(parts).mean()) for parts in zip(*found, strict=True))
    return {"entropy_cells": cells, "entropy_words": words}


def _entropy(weights: Weights) -> NDArray[np.float64]:
    """(T, n, candidates) to (T * n,)."""
    found: NDArray[np.float64] = torch.special.entr(torch.from_numpy(weights).double()).sum(dim=2).flatten().numpy()
    return found
