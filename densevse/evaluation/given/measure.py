"""Computes the metrics of scores in a program, without a data set and without the workflow."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from densevse.artifacts.matrices import Matrix, check_numbers, open_matrix
from densevse.config.given import ID_FILES, GivenFiles, GivenLayout
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.evaluation.given.relevance import (
    CUTOFFS,
    Queries,
    binary_relevance,
    checked_cutoffs,
    checked_relevance,
    read_relevance,
    relevance_metrics,
)
from densevse.evaluation.given.results import write_runs
from densevse.evaluation.given.retrieval import GivenTest, Ids, Items, open_given_matrix, read_ids, scorers, zero_points
from densevse.evaluation.given.scoring import Aligned, score_blocks
from densevse.evaluation.metrics import DIRECTIONS, METRIC_COLUMNS
from densevse.evaluation.protocols import TestSet, folds
from densevse.evaluation.recall import failures, log_failures, metrics_of
from densevse.evaluation.retrieval import Scorer, retrieve, retrieve_by_direction
from densevse.runtime.arrays import Indices, as_array
from snakeproof.errors import InputError
from snakeproof.strict import validate

ProtocolWithoutIds = Literal["full", "five_folds", "first_1000", "hodosh"]


class Measures(NamedTuple):
    """The metrics to compute, and whether their 95% intervals are computed too.

    With the cut-offs `at`, they are those of `densevse.evaluation.relevance`, otherwise those of tables.
    """

    protocol: str = "full"
    at: Sequence[int] | None = None
    intervals: bool = False
    run: str | None = None  # TREC's run files to write


def evaluate(
    scores: ArrayLike,
    image_of_sentence: ArrayLike | None = None,
    protocol: ProtocolWithoutIds = "full",
    *,
    relevant: Any = None,
    at: Sequence[int] | None = None,
    lower_is_better: bool = False,
    intervals: bool = False,
) -> dict[str, float]:
    """The metrics of scores under a protocol, as a table has them, and the numbers of queries with a tie.

    `scores` (images, sentences) are floats, an array or a tensor of torch; higher is closer unless `lower_is_better`.
    `image_of_sentence` (sentences,) is the image of each sentence, from 0, in any order. Recalls R@K are in percent,
    ranks start at 1, and a tie counts against the query. Keys are i2t_r1 ... t2i_mean_rank, rsum, mean_recall, i2t_ties
    and t2i_ties. With `intervals`, <key>_low and <key>_high are the ends of a metric's 95% interval.

    Where right answers are not one to one, `relevant` takes the place of `image_of_sentence`: a matrix (images,
    sentences) of gains, sparse or dense, such as `read_relevance` reads. A gain of 0 or less is no right answer. The
    metrics, in percent, are then those of `densevse.evaluation.relevance`: i2t_r<K> (hit@K) and i2t_ndcg_at_<K> for
    each cut-off K in `at` (1, 5 and 10), i2t_mrr, i2t_map_at_r, i2t_rprecision, and the same of t2i. If `at` is given,
    they are computed for `image_of_sentence` too.

    Both have the numbers i2t_queries and t2i_queries, and those of ranked images, sentences and folds.

    Raises `InputError` if the scores are not a matrix of finite floats, none masked, or do not match the answers.
    """
    if protocol not in get_args(ProtocolWithoutIds):
        raise InputError(f"protocol: no {protocol!r} without ids; known: {', '.join(get_args(ProtocolWithoutIds))}.")
    if (image_of_sentence is None) == (relevant is None):
        raise InputError("evaluate: give the right answers by image_of_sentence or by relevant, not by both.")
    values = as_array(scores)
    check_numbers(values, "scores")
    layout = validate(GivenLayout, {"lower_is_better": lower_is_better}, "evaluate")
    if relevant is None:
        image = _images(as_array(image_of_sentence), values.shape)
        columns = np.argsort(image, kind="stable")
        gains = binary_relevance(image[columns], len(values))
    else:
        columns, gains = np.arange(values.shape[1]), checked_relevance(relevant, values.shape, "relevant")
    score = score_blocks(Aligned(Matrix("scores", values), np.arange(len(values)), columns), layout)
    if relevant is not None or at is not None:
        return _relevance_metrics((score, score), gains, Measures(protocol, at, intervals))
    test = numbered_test(len(values), image[columns], protocol)
    return retrieval_metrics(retrieve(score, test.rows, test.folds), test.rows, intervals)


def evaluate_files(given: GivenFiles, per_image: int, measures: Measures) -> dict[str, float]:
    """The metrics of the first seed's files, where each image has `per_image` consecutive sentences.

    Raises `InputError` that names the wrong file, row and column.
    """
    if per_image < 1:
        raise InputError(f"--per-image: an image has 1 sentence or more, not {per_image}.")
    files = given.files(0)
    key = next(key for key in ("scores", "i2t", "sentences") if key in files)
    with TemporaryDirectory() as folder:
        matrix = open_given_matrix(files, key, given.layout, folder)
        if of_ids := sorted({*ID_FILES} & {*files}):
            option = f"--{of_ids[0].replace('_', '-')}"
            raise InputError(f"{option}: ids name answers in the file of --relevant alone; leave {option} out.")
        if matrix.ids is not None:
            raise InputError(
                f"{files[key]}: its rows have ids, which mean nothing without a data set or --relevant. Leave the ids "
                "out if rows and columns are in order, or make the file a row of a table (docs/evaluate.md)."
            )
        count = _count_images(matrix, per_image, given.copies, key == "sentences")
        if key == "sentences":
            _check_image_vectors(open_given_matrix(files, "images", given.layout, folder), count, given.copies)
        image = np.repeat(np.arange(count), per_image)
        test = numbered_test(count, image, measures.protocol)
        zero_points(files, given.layout, test, Path(folder))
        found = scorers(files, given.layout, test, Path(folder))
        _write_runs(found, test, measures)
        if measures.at is not None:
            return _relevance_metrics(found, binary_relevance(image, count), measures)
        rows = retrieve_by_direction(*found, test.rows, test.folds)
        return retrieval_metrics(rows, test.rows, measures.intervals)


def _count_images(matrix: Matrix, per_image: int, copies: int, of_sentences: bool) -> int:
    """The images of a matrix of scores (images, sentences), or of sentences' vectors: their sentences by `per_image`.

    Raises `InputError` for another number of sentences, and for a matrix that is turned.
    """
    rows, columns = matrix.values.shape[:2]
    sentences = rows if of_sentences else columns
    if not of_sentences and per_image > 1 and rows == columns * per_image:
        raise InputError(
            f"{matrix.name}: {rows:,} x {columns:,} is transposed; write its transpose (images, sentences)."
        )
    count = sentences // per_image
    if sentences % per_image or (not of_sentences and rows % count):  # rows that are copies are counted later
        images = "some" if of_sentences else f"{rows // copies:,}"
        raise InputError(
            f"{matrix.name}: {sentences:,} sentences are not {per_image} for each of {images} images. Where an image "
            f"has more, keep its first {per_image}, as sentences: first_five of a data set does; or say whose each "
            "sentence is by --relevant."
        )
    return int(count)


def _check_image_vectors(matrix: Matrix, count: int, copies: int) -> None:
    """Raises `InputError` for vectors of another number of images than the sentences have."""
    if len(matrix.values) != count * copies:
        raise InputError(
            f"{matrix.name}: found {len(matrix.values):,} vectors, but by --per-image and --copies the sentences are "
            f"of {count:,} images, each {copies} times; correct one of the two."
        )


def evaluate_relevant_files(
    given: GivenFiles, relevant: str, queries: Queries | None, measures: Measures
) -> dict[str, float]:
    """The metrics of the first seed's files, where `relevant` has the right answers, as `read_relevance` reads them.

    Images and sentences have the ids of the files, or else are numbered from 0. Raises `InputError` that names the
    wrong file, row and column.
    """
    files = given.files(0)
    with TemporaryDirectory() as folder:
        images, captions = (find_ids(files, kind, given.layout, folder) for kind in ("image", "caption"))
        test = given_test_from_ids(images, captions, given.copies)
        found = scorers(files, given.layout, test, Path(folder))  # which names the file of ids that do not fit
        zero_points(files, given.layout, test, Path(folder))
        _write_runs(found, test, measures)
        return _relevance_metrics(found, read_relevance(relevant, images, captions, queries), measures)


def _write_runs(found: tuple[Scorer, Scorer], test: GivenTest, measures: Measures) -> None:
    if not measures.run:
        return
    if measures.protocol != "full":
        raise InputError(
            f"--run: a run has all candidates, as the protocol full, not {measures.protocol}; leave one out."
        )
    write_runs(found, test.images.ranked.tolist(), test.captions.ranked.tolist(), measures.run)


def numbered_test(images: int, image_of_caption: Indices, protocol: str) -> GivenTest:
    """A test split whose ids are numbers; `image_of_caption` is ascending."""
    names, captions = _numbers(images), _numbers(len(image_of_caption))
    rows = TestSet(names, captions, image_of_caption, names)
    sentences = np.bincount(image_of_caption, minlength=images)
    return GivenTest(rows, folds(rows, protocol), *_items(names, captions), sentences)


def given_test_from_ids(images: Ids, captions: Ids, copies: int) -> GivenTest:
    """A test split of images and sentences with these ids, for scores alone: no sentence is paired with an image."""
    unknown = np.empty(0, np.int64)
    rows = TestSet(images, captions, unknown, images)
    return GivenTest(rows, [], *_items(images, captions), np.full(len(images), copies))


def find_ids(files: Mapping[str, str], kind: str, layout: GivenLayout, folder: str) -> Ids:
    """The ids of the images or captions (`kind`) of a given row's files; numbers from 0 if there are none."""
    if f"{kind}_ids" in files:
        return read_ids(files[f"{kind}_ids"])
    with_rows, with_columns = _WHERE[kind]
    for key in with_rows:
        if key in files:
            matrix = open_given_matrix(files, key, layout, folder)
            copied = layout.copies if kind == "image" else 1
            return _numbers(len(matrix.values) // copied) if matrix.ids is None else matrix.ids
    return _numbers(open_matrix(files[with_columns], with_columns, folder).values.shape[1])


_WHERE = {"image": (("scores", "i2t", "images"), "t2i"), "caption": (("t2i", "sentences"), "scores")}
"""The matrices whose rows are images or sentences, and the one that has them as columns alone."""


def _numbers(count: int) -> Ids:
    return np.arange(count).astype(str).astype(object)


def _items(*ids: Ids) -> tuple[Items, Items]:
    images, captions = (
        Items(kind, some, some, some, np.arange(len(some)))
        for kind, some in zip(("image", "caption"), ids, strict=True)
    )
    return images, captions


def _relevance_metrics(scorers: tuple[Scorer, Scorer], gains: sparse.csr_array, measures: Measures) -> dict[str, float]:
    if measures.protocol != "full":
        raise InputError(
            f"protocol: metrics at cut-offs need the protocol full, not {measures.protocol}; leave one out."
        )
    return relevance_metrics(
        scorers, gains, checked_cutoffs(CUTOFFS if measures.at is None else measures.at), measures.intervals
    )


def retrieval_metrics(rows: pd.DataFrame, test_set: TestSet, intervals: bool) -> dict[str, float]:
    """The metrics of RETRIEVAL rows of a test set, with the keys of `evaluate`; intervals draw families of images."""
    log_failures(failures(rows, test_set))
    found = metrics_of(rows)
    for name, counts in (("ties", "sum"), ("queries", "size")):
        of_direction = rows["tied"].groupby(rows["direction"]).agg(counts)
        found |= {f"{direction}_{name}": float(of_direction[direction]) for direction in DIRECTIONS}
    ranked = rows.groupby(["direction", "fold"])["candidates"].first()
    found |= {"images": float(ranked["t2i"].sum()), "sentences": float(ranked["i2t"].sum())}
    found["folds"] = float(len(ranked["t2i"]))
    if not intervals:
        return found
    bootstrap = retrieval_bootstrap(rows, _families(rows, test_set))
    drawn = bootstrap.replicates([rows])
    ends = {name: bootstrap.interval(name, drawn) for name in METRIC_COLUMNS}
    return {**found, **{f"{name}_{end}": value for name, one in ends.items() for end, value in one._asdict().items()}}


def _families(rows: pd.DataFrame, test_set: TestSet) -> list[str]:
    """The family of each query: of the image that asks, or of the sentence's image."""
    of_image = pd.Series(test_set.family_of_image, test_set.image_ids)
    of_caption = pd.Series(test_set.family_of_image[test_set.image_of_caption], test_set.caption_ids)
    queries = rows["query_id"]
    return queries.map(of_image).where(rows["direction"] == "i2t", queries.map(of_caption)).tolist()


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
