"""Right answers of images and sentences that are not one to one: their files, and the metrics of given scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from densevse.artifacts.matrices import ARRAY_DAMAGES
from densevse.artifacts.texts import numbered_lines
from densevse.evaluation.metrics import DIRECTIONS
from densevse.evaluation.recall import log_failures
from densevse.evaluation.relevance import MeanBootstrap, answer_ranks
from densevse.evaluation.retrieval import Scorer
from densevse.evaluation.tiles import ScoreBlock
from densevse.runtime.arrays import Indices, Reals, as_array
from snakeproof.errors import InputError

CUTOFFS = (1, 5, 10)
Queries = Literal["images", "sentences"]
_PAIR = ["image_id", "caption_id"]


def read_relevance(
    path: str | Path,
    image_ids: Sequence[str] | NDArray[Any],
    caption_ids: Sequence[str] | NDArray[Any],
    queries: Queries | None = None,
) -> sparse.csr_array:
    """The gains (images, sentences) of the pairs in a file; a pair that is not in it has gain 0: no right answer.

    A Parquet file has the columns image_id, caption_id and, if gains differ, relevance. An npz file is SciPy's of a
    sparse matrix. Another file has TREC's qrels: lines of a query's id, a column without meaning, the id of an answer,
    and a gain; the queries are all images or all sentences, which `queries` says where the ids do not. Rows and columns
    are in the order of the ids.

    Raises `InputError` that names the line or row of an unknown id, of a pair that stands twice, or of a wrong gain,
    and for an id of the scores that stands twice.
    """
    if queries and Path(path).suffix in (".npz", ".parquet"):
        raise InputError(f"{path}: it says which are images and which sentences; leave `queries` out.")
    images, sentences = (pd.Index(np.asarray(ids, str)) for ids in (image_ids, caption_ids))
    for kind, ids in (("image", images), ("caption", sentences)):
        if ids.has_duplicates:
            raise InputError(f"{kind}_ids: {ids[ids.duplicated()][0]!r} stands there twice; leave one of each.")
    if Path(path).suffix == ".npz":
        return checked_relevance(_read_sparse(path), (len(images), len(sentences)), str(path))
    pairs = _read_parquet(path) if Path(path).suffix == ".parquet" else _read_qrels(path, images, sentences, queries)
    row, column = images.get_indexer(pairs["image_id"]), sentences.get_indexer(pairs["caption_id"])
    for kind, place in (("image", row), ("caption", column)):
        if len(place) and (place < 0).all():
            raise InputError(
                f"{path}: no {kind} id in it is one of the scores'; give the ids that it has, in the order of the "
                f"scores, by {kind}_ids (--{kind}-ids)."
            )
    _refuse_first(path, pairs, (row < 0) | (column < 0), "an id that the scores do not have; correct or remove it")
    _refuse_first(path, pairs, pairs.duplicated(_PAIR).to_numpy(), "a pair that stands there before; keep one")
    gains = sparse.csr_array((pairs["relevance"], (row, column)), shape=(len(images), len(sentences)))
    return checked_relevance(gains, gains.shape, str(path))


def checked_relevance(relevant: Any, shape: tuple[int, ...], name: str) -> sparse.csr_array:
    """The gains above 0 of a matrix, sparse or dense.

    Raises `InputError` for another shape, a pair that stands twice, NaN, or no answer.
    """
    found = relevant if sparse.issparse(relevant) else as_array(relevant)
    if found.ndim != 2 or found.dtype.kind not in "biuf" or np.ma.is_masked(found):
        raise InputError(f"{name}: expected a matrix of gains, found {found.dtype} of shape {found.shape} (or masked).")
    pairs = sparse.coo_array(found)  # which adds up nothing, as other forms do
    gains = sparse.csr_array(pairs, dtype=np.float64)
    if gains.shape != shape:
        expected, found = (f"{rows:,} x {columns:,}" for rows, columns in (shape, gains.shape))
        raise InputError(f"{name}: expected gains of {expected} images and sentences, found {found}.")
    twice = pd.DataFrame(np.transpose(pairs.coords)).duplicated().to_numpy()
    if twice.any():
        image, sentence = (int(places[twice.argmax()]) for places in pairs.coords)
        raise InputError(
            f"{name}: image {image} with sentence {sentence} (counted from 0) stands there twice, as {twice.sum():,} "
            "pairs do; keep one gain of each."
        )
    if not np.isfinite(gains.data).all():
        raise InputError(f"{name}: a gain is not a finite number; correct it.")
    gains.data[gains.data < 0] = 0
    gains.eliminate_zeros()
    if not gains.nnz:
        raise InputError(f"{name}: no pair has a gain above 0, so that no query has a right answer.")
    return gains


def binary_relevance(image_of_sentence: Indices, images: int) -> sparse.csr_array:
    """Gains of 1 of each sentence (S,) with its image."""
    sentences = len(image_of_sentence)
    return sparse.csr_array((np.ones(sentences), (image_of_sentence, np.arange(sentences))), shape=(images, sentences))


def relevance_metrics(
    scorers: tuple[Scorer, Scorer], gains: sparse.csr_array, cutoffs: Sequence[int], intervals: bool
) -> dict[str, float]:
    """The metrics of `densevse.evaluation.relevance` in percent, each way, and the numbers of queries.

    `scorers` are those with which images, and sentences, ask. A query is an image or a sentence with a right answer;
    every other one is a candidate only. A bootstrap draws images, each with the sentences of which it is the best
    answer (the first, if several are).
    """
    images, sentences = (np.arange(count) for count in gains.shape)
    columns = sparse.csc_array(gains)
    answers = {"i2t": _answers(gains), "t2i": _answers(columns)}
    best_image = [found[np.argmax(gain)] for found, gain in answers["t2i"].values()]
    group, _ = pd.factorize(np.array([*answers["i2t"], *best_image]))
    asked = len(answers["i2t"])
    of_direction = {"i2t": group[:asked], "t2i": group[asked:]}
    values, failures = dict[str, Reals](), set[str]()
    for direction, scorer, candidates in zip(DIRECTIONS, scorers, gains.shape[::-1], strict=True):
        block = scorer(images, sentences)
        ranks = answer_ranks(_query_scores(block, direction, gains.shape), answers[direction])
        values |= {f"{direction}_{name}": found for name, found in ranks.metrics(cutoffs).items()}
        failures |= ranks.failures(candidates, of_direction[direction])
    log_failures(sorted(failures))
    counts = {f"{direction}_queries": float(len(answers[direction])) for direction in DIRECTIONS}
    counts |= {"images": float(len(images)), "sentences": float(len(sentences)), "folds": 1.0}
    if not intervals:
        return {name: 100 * float(found.mean()) for name, found in values.items()} | counts
    bootstrap = MeanBootstrap({name: of_direction[name[:3]] for name in values})
    return bootstrap.means_and_intervals([values]) | counts


def checked_cutoffs(cutoffs: Sequence[int]) -> list[int]:
    """Different cut-offs in rising order. Raises `InputError` for one that is no whole number or below 1."""
    found = np.asarray(cutoffs)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu" or found.min() < 1:
        raise InputError(f"at: cut-offs are a list of whole numbers of candidates, 1 or more, not {found.tolist()}.")
    return sorted({*found.tolist()})


def _answers(gains: Any) -> dict[int, tuple[Indices, Reals]]:
    """The right answers of each row of a CSR matrix or column of a CSC matrix that has any, and their gains."""
    gains.sort_indices()
    bounds = enumerate(zip(gains.indptr[:-1], gains.indptr[1:], strict=True))
    return {n: (gains.indices[first:last], gains.data[first:last]) for n, (first, last) in bounds if first < last}


def _query_scores(block: ScoreBlock, direction: str, shape: tuple[int, ...]) -> Any:
    """A function of the scores of consecutive queries of a direction, (queries, candidates)."""
    if direction == "i2t":
        return lambda queries: np.asarray(block(queries, slice(0, shape[1])))
    return lambda queries: np.asarray(block(slice(0, shape[0]), queries)).T


def _read_sparse(path: str | Path) -> Any:
    try:
        return sparse.load_npz(path)
    except (*ARRAY_DAMAGES, KeyError) as error:
        raise InputError(f"{path}: not a sparse matrix ({error}); write it by scipy.sparse.save_npz.") from error


def _read_parquet(path: str | Path) -> pd.DataFrame:
    """The pairs of a Parquet file, with a gain of 1 where it has none."""
    try:
        found = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable as Parquet ({error}); write it again.") from error
    missing = [name for name in _PAIR if name not in found]
    if missing:
        raise InputError(f"{path}: no column {missing[0]}; it needs image_id, caption_id and, for gains, relevance.")
    pairs = found[_PAIR].astype(str).set_axis(range(1, len(found) + 1))
    return _add_gains(path, pairs, found["relevance"] if "relevance" in found else np.ones(len(pairs)))


def _read_qrels(path: str | Path, images: pd.Index, sentences: pd.Index, queries: Queries | None) -> pd.DataFrame:
    """The pairs of TREC's qrels, whose queries are all images or all sentences."""
    try:
        lines = numbered_lines(Path(path).read_bytes(), str(path), "utf-8")
    except OSError as error:
        raise InputError(f"{path}: not readable as qrels ({error}); write lines of text in UTF-8.") from error
    fields = {number: line.split() for number, line in lines}
    wrong = next((number for number, found in fields.items() if len(found) != 4), None)
    if wrong is not None:
        raise InputError(f"{path}, line {wrong}: expected a query, a number, an answer and a gain; correct it.")
    found = pd.DataFrame([*fields.values()], [*fields], columns=["query", "iteration", "answer", "relevance"])
    known = [
        (found["query"].isin(asking).any(), found["answer"].isin(answers).any())
        for asking, answers in ((images, sentences), (sentences, images))
    ]
    fits = [all(sides) for sides in known]
    if all(fits) and not queries:
        raise InputError(
            f"{path}: an id is of an image and of a sentence, so that queries cannot be told from answers; say by "
            "--queries images, or --queries sentences, which ask (`queries` of read_relevance)."
        )
    if not any(fits):  # the ids of one side are not those of the scores
        fits[0] = any(known[0]) or not any(known[1])
    of_images = queries == "images" if queries else fits[0]
    names = ("query", "answer") if of_images else ("answer", "query")
    pairs = pd.DataFrame({"image_id": found[names[0]], "caption_id": found[names[1]]})
    return _add_gains(path, pairs, found["relevance"])


def _add_gains(path: str | Path, pairs: pd.DataFrame, gains: ArrayLike) -> pd.DataFrame:
    numbers = pd.to_numeric(pd.Series(gains), errors="coerce").to_numpy(np.float64)
    _refuse_first(path, pairs, ~np.isfinite(numbers), "a gain that is not a finite number; correct it")
    return pairs.assign(relevance=numbers)


def _refuse_first(path: str | Path, pairs: pd.DataFrame, wrong: NDArray[np.bool_], what: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        image, caption = pairs.iloc[row][_PAIR]
        raise InputError(f"{path}, row {pairs.index[row]}: image {image!r} with sentence {caption!r} has {what}.")
