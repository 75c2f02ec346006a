"""How well scores tell which images have a concept: average precision, by scikit-learn; and on many sets of images."""

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from densevse.runtime.errors import InputError


def average_precisions(scores: NDArray[np.floating], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(K,) average precision of each concept, of (N, K) scores and labels; NaN of a concept that no image has."""
    found = np.full(present.shape[1], np.nan)
    for concept in np.flatnonzero(present.any(axis=0)):
        found[concept] = average_precision_score(present[:, concept], scores[:, concept])
    return found


def weighted_average_precisions(
    scores: NDArray[np.floating], present: NDArray[np.bool_], weights: NDArray[np.integer]
) -> NDArray[np.float64]:
    """(sets, K) `average_precisions` of sets of images, where `weights` (sets, N) says how often a set has each image.

    All sets of a concept are two matrix products; scikit-learn, called for each of them, would take minutes. NaN where
    no image of a set has the concept.
    """
    weight = weights.astype(np.float32)  # whole numbers below 2**24, so that sums are exact
    found = np.full((len(weights), present.shape[1]), np.nan)
    for concept, (score, has) in enumerate(zip(scores.T, present.T, strict=True)):
        not_below = (score[:, None] >= score[has]).astype(np.float32)
        positives = weight[:, has]
        total = positives.sum(axis=1, dtype=np.float64)
        precision = (positives @ not_below[has]) / np.maximum(weight @ not_below, 1)
        np.divide((positives * precision).sum(axis=1), total, out=found[:, concept], where=total > 0)
    return found


def mean_average_precision(scores: NDArray[np.floating], present: NDArray[np.bool_]) -> float:
    """The mean over concepts that some image has. Raises `InputError` if there is no such concept."""
    if not present.any():
        raise InputError("no image of the split has any of the concepts: their average precision is not defined.")
    return float(np.nanmean(average_precisions(scores, present)))
