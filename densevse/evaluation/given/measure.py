"""Computes the metrics of scores in a program, without a data set and without the workflow."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray

from densevse.artifacts.matrices import Matrix, check_numbers, open_matrix
from densevse.config.given import GivenFiles
from densevse.evaluation.given.retrieval import GivenTest, Items, given_rankings
from densevse.evaluation.given.scoring import Aligned, score_blocks
from densevse.evaluation.metrics import DIRECTIONS
from densevse.evaluation.protocols import TestSet, folds
from densevse.evaluation.recall import metrics_of
from densevse.evaluation.retrieval import retrieve
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError

ProtocolWithoutIds = Literal["full", "five_folds", "first_1000", "hodosh"]


def evaluate(
    scores: NDArray[Any] | torch.Tensor, image_of_sentence: ArrayLike, protocol: ProtocolWithoutIds = "full"
) -> dict[str, float]:
    """The metrics of scores under a protocol, as a table has them, and the numbers of queries with a tie.

    `scores` (images, sentences) are floats, higher is closer; `image_of_sentence` (sentences,) is the image of each
    sentence, from 0, in any order. Recalls R@K are in percent, ranks start at 1, and a tie counts against the query.
    Keys are i2t_r1 ... t2i_mean_rank, rsum, mean_recall, i2t_ties and t2i_ties.

    Raises `InputError` if the scores are not a matrix of finite floats, none masked, or do not match the sentences.
    """
    if protocol not in get_args(ProtocolWithoutIds):
        raise InputError(f"protocol: no {protocol!r} without ids; known: {', '.join(get_args(ProtocolWithoutIds))}.")
    values = _array(scores) if isinstance(scores, torch.Tensor) else np.asanyarray(scores)
    check_numbers(values, "scores")
    image = _images(np.asanyarray(image_of_sentence), values.shape)
    columns = np.argsort(image, kind="stable")
    test = numbered_test(len(values), image[columns], protocol)
    score = score_blocks(Aligned(Matrix("scores", values), np.arange(len(values)), columns), None)
    return _metrics(retrieve(score, test.rows, test.folds))


def evaluate_files(given: GivenFiles, per_image: int, protocol: ProtocolWithoutIds = "full") -> dict[str, float]:
    """The metrics of the first seed's files, where each image has `per_image` consecutive sentences.

    Raises `InputError` that names the wrong file, row and column.
    """
    if per_image < 1:
        raise InputError(f"--per-image: an image has 1 sentence or more, not {per_image}.")
    files = given.files(0)
    key = next(key for key in ("scores", "i2t", "sentences") if key in files)
    with TemporaryDirectory() as folder:
        matrix = open_matrix(files[key], key, folder)
        if matrix.ids is not None:
            raise InputError(
                f"{files[key]}: its rows have ids, which mean nothing without a data set. Remove the column if the "
                "rows are in order, or make the file a row of a table (docs/evaluate.md)."
            )
        shape = matrix.values.shape
        sentences = shape[0] if key == "sentences" else shape[1]
        if sentences % per_image:
            raise InputError(f"{files[key]}: {sentences:,} sentences are not {per_image} for each of some images.")
        images = np.repeat(np.arange(sentences // per_image), per_image)
        test = numbered_test(sentences // per_image, images, protocol)
        return _metrics(given_rankings(files, given.layout, test, Path(folder)))


def numbered_test(images: int, image_of_caption: Indices, protocol: str) -> GivenTest:
    """A test split whose ids are numbers; `image_of_caption` is ascending."""
    names, captions = (np.arange(count).astype(str).astype(object) for count in (images, len(image_of_caption)))
    rows = TestSet(names, captions, image_of_caption, names)
    of_images, of_captions = (
        Items(kind, ids, ids, ids, np.arange(len(ids))) for kind, ids in (("image", names), ("caption", captions))
    )
    return GivenTest(
        rows, folds(rows, protocol), of_images, of_captions, np.bincount(image_of_caption, minlength=images)
    )


def _metrics(rows: pd.DataFrame) -> dict[str, float]:
    ties = rows["tied"].groupby(rows["direction"]).sum()
    return {**metrics_of(rows), **{f"{direction}_ties": float(ties[direction]) for direction in DIRECTIONS}}


def _array(scores: torch.Tensor) -> NDArray[Any]:
    """A tensor as an array; NumPy has no bfloat16."""
    found: NDArray[Any] = (scores.float() if scores.dtype == torch.bfloat16 else scores).detach().cpu().numpy()
    return found


def _images(image_of_sentence: NDArray[Any], shape: tuple[int, ...]) -> Indices:
    """The image of each sentence. Raises `InputError` for one that is masked or does not exist."""
    if np.ma.is_masked(image_of_sentence):
        raise InputError("image_of_sentence: a number is masked; give the image of every sentence.")
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
