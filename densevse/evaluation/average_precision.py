"""Average precision of concept scores, by scikit-learn, and for many sets of images at once."""

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from snakeproof.errors import InputError


def average_precisions(scores: NDArray[np.floating], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(K,) average precision of each concept, from (N, K) scores and labels; NaN for a concept of no image."""
    found = np.full(present.shape[1], np.nan)
    for concept in np.flatnonzero(present.any(axis=0)):
        found[concept] = average_precision_score(present[:, concept], scores[:, concept])
    return found


def weighted_average_precisions(
    scores: NDArray[np.floating], present: NDArray[np.bool_], weights: NDArray[np.integer]
) -> NDArray[np.float64]:
    """(sets, K) average precisions of sets of images; `weights` (sets, N) count each image in each set.

    All sets of a concept take two matrix products; calling scikit-learn for each would take minutes. NaN if no image of
    a set has the concept.
    """
    weight = weights.astype(np.float32)  # integers below 2**24, so that sums are exact
    found = np.full((len(weights), present.shape[1]), np.nan)
    for concept, (score, has) in enumerate(zip(scores.T, present.T, strict=True)):
        not_below = (score[:, None] >= score[has]).astype(np.float32)
        positives = weight[:, has]
        total = positives.sum(axis=1, dtype=np.float64)
        precision = (positives @ not_below[has]) / np.maximum(weight @ not_below, 1)
        np.divide((positives * precision).sum(axis=1), total, out=found[:, concept], where=total > 0)
    return found


def mean_average_precision(scores: NDArray[np.floating], present: NDArray[np.bool_]) -> float:
    """The mean over concepts that some image has. Raises `InputError` if there is none."""
    if not present.any():
        raise InputError("no image of the split has any of the concepts: their average precision is not defined.")
    return float(np.nanmean(average_precisions(scores, present)))
