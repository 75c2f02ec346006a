"""Measures choices by files of scores, or of vectors, without a data set and without the workflow."""

from collections.abc import Callable, Mapping
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.matrices import Matrix, open_matrix
from densevse.artifacts.vectors import refuse_constant_vectors
from densevse.config.given import GivenFiles, GivenLayout
from densevse.evaluation.choices import Choices, ChoiceScores, draw_others, measure_choices, read_choices
from densevse.evaluation.given.retrieval import read_ids
from densevse.evaluation.given.scoring import Aligned, read_vectors
from densevse.evaluation.vectors import Vectors
from densevse.runtime.arrays import Indices, Reals
from snakeproof.errors import InputError
from snakeproof.logs import logger

SENTENCES_AT_ONCE = 4096
_TERMS: dict[str | None, Callable[[Vectors, Vectors], Vectors]] = {
    "cosine": np.multiply,
    "dot": np.multiply,
    "order": lambda images, sentences: -(np.maximum(sentences - images, 0) ** 2),
}
"""Similarity -> the (n, D) terms of the scores of n pairs of vectors."""


def evaluate_choice_files(given: GivenFiles, path: str, blind: str | None = None) -> pd.DataFrame:
    """The rows of `measure_choices` for a Parquet file of questions, by the first seed's files.

    Scores (questions, 1 + most wrong) have the right sentence's first, and NaN behind a question's last; `blind` has
    those beside other images. Vectors of sentences are in the order of the questions, each question's right one first;
    those of images are in the order in which the questions name them, or have ids. Blind choices are then made beside
    the mean vector of other images. Raises `InputError` that names the wrong file, row and column.
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
    matrix, counts = _open_in_order(path, "scores", folder), _count_sentences(questions)
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


def _open_in_order(path: str, key: str, folder: str) -> Matrix:
    """A matrix whose rows are in the order of the questions. Raises `InputError` if they have ids."""
    matrix = open_matrix(path, key, folder)
    if matrix.ids is not None:
        raise InputError(f"{path}: its rows have ids, and are in the order of the questions here; leave the ids out.")
    return matrix


def _choices_of_vectors(files: Mapping[str, str], questions: pd.DataFrame, layout: GivenLayout, folder: str) -> Choices:
    names, counts = pd.Index(questions["image"].unique()), _count_sentences(questions)
    images = open_matrix(files["images"], "images", folder)
    sentences = _open_in_order(files["sentences"], "sentences", folder)
    for matrix in (images, sentences):
        refuse_constant_vectors(matrix.values, matrix.name)
    if (length := images.values.shape[1]) != sentences.values.shape[1]:
        raise InputError(
            f"{images.name}: its vectors are not as long as those of {sentences.name}; one space is needed."
        )
    _check_count(sentences, int(counts.sum()), "sentences, of each question the right one and then its wrong ones")
    columns, rows = np.arange(length), _image_rows(files, images, names)
    vectors = read_vectors(Aligned(images, rows, columns), np.arange(len(names)), layout)
    owner = np.repeat(names.get_indexer(questions["image"]), counts)
    captions = questions[["image", "family"]].assign(text=questions["right"])
    others = draw_others(captions, seed=0)
    means = None
    if all(others.values()):
        means = np.stack([vectors[names.get_indexer(others[name])].mean(axis=0) for name in names])
    else:
        logger.warning("No blind choices: for some images, every other image is of their family or has their caption.")
    aligned = Aligned(sentences, np.arange(len(owner)), columns)
    scores = _score_pairs([one for one in (vectors, means) if one is not None], owner, aligned, layout)
    return Choices(*(ChoiceScores(*(_by_question(values, counts) for values in one)) for one in scores))


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


def _score_pairs(
    images: list[Vectors], owner: Indices, sentences: Aligned, layout: GivenLayout
) -> list[tuple[Reals, Reals]]:
    """For each array of images: the score of each sentence with its `owner`, and the sum of its terms' sizes."""
    found = [(np.empty(len(owner)), np.empty(len(owner))) for _ in images]
    for first in range(0, len(owner), SENTENCES_AT_ONCE):
        some = slice(first, min(first + SENTENCES_AT_ONCE, len(owner)))
        vectors = read_vectors(sentences, np.arange(some.start, some.stop), layout).astype(np.float64)
        for of_images, (scores, sizes) in zip(images, found, strict=True):
            terms = _TERMS[layout.similarity](of_images[owner[some]], vectors)
            scores[some], sizes[some] = terms.sum(axis=1), np.abs(terms).sum(axis=1)
    return found


def _count_sentences(questions: pd.DataFrame) -> Indices:
    return np.array([1 + len(wrong) for wrong in questions["wrong"]], np.int64)


def _places(counts: Indices) -> NDArray[np.bool_]:
    """(Q, most) true where a question has a sentence."""
    return np.arange(counts.max()) < counts[:, None]


def _by_question(values: Reals, counts: Indices) -> Reals:
    """(Q, most) the values of all sentences by question, NaN behind."""
    found = np.full((len(counts), int(counts.max())), np.nan)
    found[_places(counts)] = values
    return found
