"""Computes the attention of a model in the images and sentences of a split (`Method.saliency`)."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from densevse.data.inputs import Pairs
from densevse.methods.interface import Method, module_device
from densevse.methods.moving import to_device
from densevse.models.encoding import batches, evaluation
from densevse.runtime.arrays import Indices
from snakeproof.logs import progress

Weights = NDArray[np.float32]
View = Literal["grid", "regions"]

_IMAGES_AT_ONCE = 64


class SomeSaliency(NamedTuple):
    """The saliency in n images with their first sentences, at T steps; see `Saliency`."""

    sentences: Indices  # (n,)
    view: View
    places: Weights  # (T, n, places)
    words: Weights  # (T, n, longest)


def saliency(method: Method, pairs: Pairs) -> Iterator[SomeSaliency]:
    """Yields the saliency in each image with its first sentence, several images at a time."""
    device = module_device(method)
    first = np.unique(pairs.rows.image_of_caption, return_index=True)[1]
    for places in progress(batches(len(first), _IMAGES_AT_ONCE), "saliency"):
        sentences = first[places]
        with evaluation(method):
            images = method.encode_images(to_device(pairs.images(pairs.rows.image_of_caption[sentences]), device))
            encoded = method.encode_sentences(to_device(pairs.sentences(sentences), device))
            matched = torch.arange(len(sentences), device=device)
            found = method.saliency(images, encoded, matched, matched)
        yield SomeSaliency(sentences, found.view, *(part.float().cpu().numpy() for part in (found.places, found.words)))


def entropies(method: Method, pairs: Pairs) -> dict[str, float]:
    """The mean entropy of a split's saliency over places and over words, in nats, over all images and steps."""
    found = [(_entropy(some.places), _entropy(some.words)) for some in saliency(method, pairs)]
    places, words = (float(np.concatenate(parts).mean()) for parts in zip(*found, strict=True))
    return {"entropy_places": places, "entropy_words": words}


def _entropy(weights: Weights) -> NDArray[np.float64]:
    """The entropy of each step that exists, from (T, n, candidates)."""
    exists = weights.any(axis=2)
    found: NDArray[np.float64] = torch.special.entr(torch.from_numpy(weights[exists]).double()).sum(dim=1).numpy()
    return found
