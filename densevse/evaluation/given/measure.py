"""The metrics of scores that a program holds, without a data set and without the workflow."""

from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from densevse.evaluation.given.matrices import Matrix, check_numbers
from densevse.evaluation.given.scoring import Aligned, score_blocks
from densevse.evaluation.metrics import DIRECTIONS
from densevse.evaluation.protocols import TestSet, folds
from densevse.evaluation.recall import metrics_of
from densevse.evaluation.retrieval import retrieve
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError

ProtocolWithoutIds = Literal["full", "five_folds", "first_1000", "hodosh"]


def evaluate(
    scores: ArrayLike | torch.Tensor, image_of_sentence: ArrayLike, protocol: ProtocolWithoutIds = "full"
) -> dict[str, float]:
    """The metrics of scores under a protocol, as a table has them, and how many queries have a tie.

    `scores` (images, sentences) are floats, higher is closer; `image_of_sentence` (sentences,) says to which image,
    from 0, each sentence belongs, in any order. Recalls R@K are in percent, ranks begin at 1, a tie counts against the
    query. Keys are i2t_r1 ... t2i_mean_rank, rsum, mean_recall, i2t_ties and t2i_ties.

    Raises `InputError` if the scores are no matrix of finite floats, or do not fit the sentences.
    """
    if protocol not in get_args(ProtocolWithoutIds):
        raise InputError(f"protocol: no {protocol!r} without ids; known: {', '.join(get_args(ProtocolWithoutIds))}.")
    values = scores.detach().float().cpu().numpy() if isinstance(scores, torch.Tensor) else np.asanyarray(scores)
    check_numbers(values, "scores")
    image = _images(np.asarray(image_of_sentence), values.shape)
    columns = np.argsort(image, kind="stable")
    names, numbers = np.arange(len(values)).astype(str).astype(object), columns.astype(str).astype(object)
    test_set = TestSet(names, numbers, image[columns], names)
    score = score_blocks(Aligned(Matrix("scores", values), np.arange(len(values)), columns), None)
    rows = retrieve(score, test_set, folds(test_set, protocol))
    ties = rows["tied"].groupby(rows["direction"]).sum()
    return {**metrics_of(rows), **{f"{direction}_ties": float(ties[direction]) for direction in DIRECTIONS}}


def _images(image_of_sentence: NDArray[Any], shape: tuple[int, ...]) -> Indices:
    """The image of each sentence. Raises `InputError` for one that is not there."""
    if image_of_sentence.shape != shape[1:] or image_of_sentence.dtype.kind not in "iu":
        raise InputError(
            f"image_of_sentence: expected {shape[1]} whole numbers, one for each column of the scores, found "
            f"{image_of_sentence.dtype} of shape {image_of_sentence.shape}."
        )
    wrong = np.flatnonzero((image_of_sentence < 0) | (image_of_sentence >= shape[0]))
    if len(wrong):
        raise InputError(
            f"image_of_sentence: sentence {wrong[0]} is of image {image_of_sentence[wrong[0]]}, and scores are of the "
            f"images 0 to {shape[0] - 1}."
        )
    return image_of_sentence.astype(np.int64)
