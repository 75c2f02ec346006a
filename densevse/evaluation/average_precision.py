"""How well scores tell which images have a concept: average precision, by scikit-learn."""

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from densevse.errors import InputError


def average_precisions(scores: NDArray[np.floating], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(K,) average precision of each concept, of (N, K) scores and labels; NaN of a concept that no image has."""
    found = np.full(present.shape[1], np.nan)
    for concept in np.flatnonzero(present.any(axis=0)):
        found[concept] = average_precision_score(present[:, concept], scores[:, concept])
    return found


def mean_average_precision(scores: NDArray[np.floating], present: NDArray[np.bool_]) -> float:
    """The mean over concepts that some image has. Raises `InputError` if there is no such concept."""
    if not present.any():
        raise InputError("no image of the split has any of the concepts: their average precision is not defined.")
    return float(np.nanmean(average_precisions(scores, present)))
