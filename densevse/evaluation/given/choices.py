"""Measures choices by files of scores, or of vectors, without a data set and without the workflow."""

from collections.abc import Callable, Mapping
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.matrices import Matrix, open_matrix
from densevse.artifacts.vectors import refuse_constant_vectors
from densevse.config.given import SEVERAL, GivenFiles, GivenLayout
from densevse.evaluation.choices import Choices, ChoiceScores, draw_others, measure_choices, read_choices
from densevse.evaluation.given.retrieval import open_given_matrix, read_ids
from densevse.evaluation.given.scoring import Aligned, max_sum_scorers, read_vectors, similarities
from densevse.evaluation.vectors import Vectors, products
from densevse.runtime.arrays import Indices
from snakeproof.errors import InputError
from snakeproof.logs import logger

_Scores = Callable[[Indices, Indices], tuple[Vectors, Vectors]]
"""Returns the (I, S) scores of rows of images and of sentences, and the sums of the sizes of their terms."""


def evaluate_choice_files(given: GivenFiles, path: str, blind: str | None = None) -> pd.DataFrame:
    """The rows of `measure_choices` for a Parquet file of questions, by the first seed's files.

    Scores (questions, 1 + most wrong) have the right sentence's first, and NaN behind a question's last; `blind` has
    those beside other images. Vectors of sentences are in the order of the questions, each question's right one first;
    those of images are in the order in which the questions name them, or have ids. Blind choices are then made beside
    other images. Raises `InputError` that names the wrong file, row and column.
    """
    questions, files = read_choices(path), given.files(0)
    with TemporaryDirectory() as folder:
        if "scores" in files:
            if "image_ids" in files:
                raise InputError("--image-ids: scores have a row for each question, in their order; leave it out.")
            beside = _read_scores(files["scores"], questions, given.layout, folder)
            other = _read_scores(blind, questions, given.layout, folder) if blind else None
            return measure_choices(questions, [Choices(beside, other)])
        if blind:
            raise InputError("--blind: with vectors, blind choices are made here; leave it out.")
        return measure_choices(questions, [_choices_of_vectors(files, questions, given.layout, folder)])


def _read_scores(path: str, questions: pd.DataFrame, layout: GivenLayout, folder: str) -> ChoiceScores:
    matrix, counts = open_matrix(path, "scores", folder), _count_sentences(questions)
    _refuse_ids(matrix)
    expected = (len(questions), int(counts.max()))
    if matrix.values.shape != expected:
        raise InputError(
            f"{matrix.name}: expected {expected[0]:,} x {expected[1]}, a row for each question with the score of its "
            f"right sentence, then those of the wrong ones, found {' x '.join(map(str, matrix.values.shape))}."
        )
    values, behind = np.array(matrix.values, np.float64), ~_places(counts)
    wrong = np.argwhere(np.isfinite(values) == behind)
    if len(wrong):
        row, column = wrong[0]
        what = "is no finite number; correct it"
        if behind[row, column]:
            what = f"is behind the {counts[row]} sentences of its question; write NaN there"
        raise InputError(f"{matrix.name}: row {row}, column {column} {what}.")
    values[behind] = np.nan
    return ChoiceScores(-values if layout.lower_is_better else values, np.zeros_like(values))


def _refuse_ids(matrix: Matrix) -> None:
    """Raises `InputError` for a matrix whose rows, which are in the order of the questions, have ids."""
    if matrix.ids is not None:
        raise InputError(
            f"{matrix.name}: its rows have ids, and are in the order of the questions here; leave the ids out."
        )


def _choices_of_vectors(files: Mapping[str, str], questions: pd.DataFrame, layout: GivenLayout, folder: str) -> Choices:
    names, counts = pd.Index(questions["image"].unique()), _count_sentences(questions)
    images, sentences = (open_given_matrix(files, key, layout, folder) for key in ("images", "sentences"))
    _refuse_ids(sentences)
    for matrix in (images, sentences):
        refuse_constant_vectors(matrix.values, matrix.name)
    if images.values.shape[-1] != sentences.values.shape[-1]:
        raise InputError(
            f"{images.name}: its vectors are not as long as those of {sentences.name}; one space is needed."
        )
    _check_count(sentences, int(counts.sum()), "sentences, of each question the right one and then its wrong ones")
    columns, rows = np.arange(images.values.shape[1]), _image_rows(files, images, names)
    family = dict(zip(questions["image"], questions["family"], strict=True))
    others = draw_others(questions[["image"]].assign(text=questions["right"]), family, seed=0)
    beside = {image: rows[names.get_indexer(pd.Index([image, *some]))] for image, some in others.items()}
    of_images, of_sentences = (Aligned(one, np.arange(len(one.values)), columns) for one in (images, sentences))
    score = _scorer(of_images, of_sentences, layout)
    spans = np.split(np.arange(counts.sum()), counts.cumsum()[:-1])
    found = [score(beside[image], span) for image, span in zip(questions["image"], spans, strict=True)]
    own = ChoiceScores.from_lists(*([part[0] for part in parts] for parts in zip(*found, strict=True)))
    if not all(others.values()):
        logger.warning("No blind choices: for some images, every other image is of their family or has their caption.")
        return Choices(own)
    means = ([part[1:].mean(axis=0) for part in parts] for parts in zip(*found, strict=True))
    return Choices(own, ChoiceScores.from_lists(*means))


def _scorer(images: Aligned, sentences: Aligned, layout: GivenLayout) -> _Scores:
    """Scores of the similarity. Sums of best matches are exact, whatever their order: their own size is enough."""
    if layout.similarity in SEVERAL:
        select, _ = max_sum_scorers(images, sentences, layout)  # of an image, which asks for its sentence

        def score_several(image: Indices, sentence: Indices) -> tuple[Vectors, Vectors]:
            scores = select(image, sentence)(slice(0, len(image)), slice(0, len(sentence)))
            return scores, np.abs(scores)

        return score_several

    def score_vectors(image: Indices, sentence: Indices) -> tuple[Vectors, Vectors]:
        of = ((images, image), (sentences, sentence))
        one, other = (read_vectors(side, rows, layout).astype(np.float64) for side, rows in of)
        scores = similarities(one, other, layout)
        return scores, np.abs(scores) if layout.similarity == "order" else products(np.abs(one), np.abs(other))

    return score_vectors


def _image_rows(files: Mapping[str, str], images: Matrix, names: pd.Index) -> Indices:
    """The row of each image."""
    ids = read_ids(files["image_ids"]) if "image_ids" in files else images.ids
    if ids is None:
        _check_count(images, len(names), "images, in the order in which the questions name them first")
        return np.arange(len(names))
    rows: Indices = pd.Index(ids).drop_duplicates().get_indexer(names)
    if len(set(ids)) != len(ids):
        raise InputError(f"{files.get('image_ids', images.name)}: an image stands there twice; leave one of each.")
    if (rows < 0).any():
        raise InputError(
            f"{images.name}: no vector is of the image {names[rows < 0][0]!r}; add those of all questions."
        )
    return rows


def _check_count(matrix: Matrix, expected: int, what: str) -> None:
    if len(matrix.values) != expected:
        raise InputError(f"{matrix.name}: expected the vectors of {expected:,} {what}, found {len(matrix.values):,}.")


def _count_sentences(questions: pd.DataFrame) -> Indices:
    return np.array([1 + len(wrong) for wrong in questions["wrong"]], np.int64)


def _places(counts: Indices) -> NDArray[np.bool_]:
    """(Q, most) true where a question has a sentence."""
    return np.arange(counts.max()) < counts[:, None]
