"""Scores of a simulated concept classifier with a given mean average precision.

Normal noise is added to each true label, 1 or 0. The score is the posterior probability that the label is 1, with the
concept's frequency as the prior. The noise is chosen so that the scores have the wanted mean average precision.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from densevse.artifacts.matrices import write_matrix
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.evaluation.average_precision import mean_average_precision
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import write_text
from snakeproof.logs import logger

_WEAKEST, _STRONGEST, _HALVINGS = 0.01, 100.0, 30


def write_oracle(
    concepts: str | Path, image_concepts: str | Path, wanted: float, seed: int, scores: str | Path, ids: str | Path
) -> None:
    """The job that writes the scores (images, K) of all images' concepts as an array, and the images' ids beside it.

    `concepts` and `image_concepts` are a data set's CONCEPTS and IMAGE_CONCEPTS, and `wanted` is the mean average
    precision in percent. Raises `InputError` as `oracle_scores` does.
    """
    count, rows = len(schema.read(concepts, CONCEPTS)), schema.read(image_concepts, IMAGE_CONCEPTS)
    present = np.zeros((len(rows), count), bool)
    for row, of_image in enumerate(rows["concepts"]):
        present[row, of_image] = True
    found = oracle_scores(present, wanted / 100, seed)
    write_matrix(found, scores)
    write_text("".join(f"{name}\n" for name in rows["image_id"]), ids)


def oracle_scores(present: NDArray[np.bool_], wanted: float, seed: int) -> NDArray[np.float32]:
    """(N, K) scores of the concepts of images, with the mean average precision `wanted`, 0 to 1.

    Raises `InputError` if even the strongest noise leaves more than that.
    """
    noise = np.random.default_rng(seed).normal(size=present.shape)
    weak, strong = _WEAKEST, _STRONGEST
    if mean_average_precision(_posterior(present, noise, strong), present) > wanted:
        raise InputError(f"mean_average_precision: chance alone gives these concepts more than {100 * wanted:g}.")
    for _ in range(_HALVINGS):
        middle = np.sqrt(weak * strong)
        if mean_average_precision(_posterior(present, noise, middle), present) > wanted:
            weak = middle
        else:
            strong = middle
    scores = _posterior(present, noise, strong)
    precision = 100 * mean_average_precision(scores, present)
    logger.info("noise of %.3f leaves a mean average precision of %.1f", strong, precision)
    return scores


def _posterior(present: NDArray[np.bool_], noise: NDArray[np.float64], deviation: float) -> NDArray[np.float32]:
    """(N, K) posterior probabilities of labels with noise of this standard deviation."""
    images = len(present)
    share = present.mean(axis=0).clip(0.5 / images, 1 - 0.5 / images)
    scores: NDArray[np.float32] = expit(
        logit(share) + (present + deviation * noise - 0.5) / deviation**2, dtype=np.float64
    ).astype(np.float32)
    return scores
