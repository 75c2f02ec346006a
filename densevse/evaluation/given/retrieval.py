"""Writes the retrieval of a given row: the same artifact as for a trained model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.identity import Identity
from densevse.artifacts.matrices import ARRAY_DAMAGES, Matrix, open_matrix, read_row_ids
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.vectors import count_zeros, refuse_constant_vectors
from densevse.config.given import SEVERAL, GivenLayout
from densevse.evaluation.given.scoring import Aligned, max_sum_scorers, score_blocks, vector_blocks
from densevse.evaluation.protocols import Fold, TestSet, folds, join_folds, select_split
from densevse.evaluation.recall import failures
from densevse.evaluation.retrieval import Scorer, retrieve_by_direction, versions
from densevse.runtime.arrays import Indices
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.strict import validate

Ids = NDArray[np.object_]
_SHOWN = 5


class Items(NamedTuple):
    """The images or the sentences of a test split."""

    kind: str  # image or caption
    known: Ids  # all of the split
    documented: Ids  # those that the data set ranks, in the order of images.parquet, or by image and position
    ranked: Ids  # the readable ones of the test set
    needed: Indices  # the rows of `ranked` that the protocol ranks


def read_ids(path: str | Path) -> Ids:
    """The ids of a file: one a line, or an array of text or integers (npy). Raises `InputError` for others."""
    if Path(path).suffix != ".npy":
        return np.array(read_row_ids(path), dtype=object)
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file of ids.") from None
    except ARRAY_DAMAGES as error:
        raise InputError(f"{path}: not readable as ids ({error}); write one id a line, as text in UTF-8.") from error
    if found.ndim != 1 or not found.size or found.dtype.kind not in "Uiu":
        raise InputError(
            f"{path}: expected a list of ids, as text or whole numbers, found {found.dtype} of shape {found.shape}; "
            "write one id a line."
        )
    ids: Ids = found.astype(str).astype(object)
    return ids


def match_rows(items: Items, ids: Ids, where: str) -> Indices:
    """The row of each ranked item among `ids`, or -1 for an item that the protocol does not need.

    Raises `InputError` that names repeated, unknown or missing ids; `where` is their file.
    """
    index = pd.Index(ids)
    _refuse_ids(index[index.duplicated()], f"{where}: these {items.kind}_ids stand there twice", "leave one of each")
    known = pd.Index(items.known)
    known_as = f"they are those of the column {items.kind}_id of {items.kind}s.parquet, of the split test"
    _refuse_ids(index[~index.isin(known)], f"{where}: these {items.kind}_ids are unknown", known_as)
    rows: Indices = index.get_indexer(pd.Index(items.ranked)).astype(np.int64)
    missing = items.ranked[items.needed][rows[items.needed] < 0]
    _refuse_ids(
        pd.Index(missing), f"{where}: these {items.kind}_ids are missing", "add their rows, or use another protocol"
    )
    return rows


def _refuse_ids(wrong: pd.Index, what: str, advice: str) -> None:
    if len(wrong):
        some = ", ".join(map(repr, wrong[:_SHOWN])) + (f" and {len(wrong) - _SHOWN:,} more" * (len(wrong) > _SHOWN))
        raise InputError(f"{what}: {some}; {advice}.")


ALIKE = 1e-2
"""The relative difference allowed between copies of an image, as copies in other batches round differently."""

COMPARED_COLUMNS = 64
"""Columns that are compared to recognise copies."""


class GivenTest(NamedTuple):
    """A test split, with its ranked images and sentences."""

    rows: TestSet
    folds: list[Fold]
    images: Items
    captions: Items
    sentences_of_image: Indices  # (images of the split,) in documented order


def write_given_retrieval(
    image_table: str,
    caption_table: str,
    layout: Mapping[str, Any],
    ranked_sentences: str,
    top: int,
    wildcards: Mapping[str, str],
    output: str,
    **given: str,
) -> None:
    """The job that ranks the test split by given scores or vectors under a protocol, and writes RETRIEVAL rows.

    `layout` has the fields of `GivenLayout`, and `given` are the files by their keys. Raises `InputError` that names
    the wrong file, row or id.
    """
    of, meaning = Identity.from_wildcards(wildcards), validate(GivenLayout, layout, "the given row")
    test = read_test(image_table, caption_table, str(of.protocol), ranked_sentences)
    scored = scorers(given, meaning, test, Path(output).parent)
    rows = retrieve_by_direction(*scored, test.rows, test.folds, top)
    for failure in failures(rows, test.rows):
        logger.warning("%s on %s: %s", of.variant, of.dataset, failure)
    zeros = zero_points(given, meaning, test, Path(output).parent)
    names = {key: Path(path).name for key, path in given.items()}
    schema.write(rows, RETRIEVAL, output, split="test", given=names, zeros=zeros, device="cpu", versions=versions())


def read_test(image_table: str, caption_table: str, protocol: str, sentences: str = "all") -> GivenTest:
    """Reads the test split of a data set. Raises `InputError` as `select_split` and `folds` do."""
    images = schema.read(image_table, IMAGES, ["image_id", "split", "status", "family"])
    captions = schema.read(caption_table, CAPTIONS, ["caption_id", "image_id", "position"])
    rows, every_image = select_split(images, captions, sentences=sentences), images.assign(status="ok")
    whole = select_split(every_image, captions, sentences=sentences)
    known = select_split(every_image, captions)
    parts = folds(rows, protocol)
    needed = join_folds(parts)
    return GivenTest(
        rows,
        parts,
        Items("image", known.image_ids, whole.image_ids, rows.image_ids, needed.images),
        Items("caption", known.caption_ids, whole.caption_ids, rows.caption_ids, needed.captions),
        np.bincount(whole.image_of_caption, minlength=len(whole.image_ids)),
    )


def scorers(files: Mapping[str, str], layout: GivenLayout, test: GivenTest, unpacked_in: Path) -> tuple[Scorer, Scorer]:
    """The scores with which images ask for sentences, and those with which sentences ask for images."""
    given = _GivenMatrices(files, layout, test, unpacked_in)
    if "i2t" in files:
        return score_blocks(given.scores("i2t"), layout), score_blocks(given.scores("t2i"), layout)
    if layout.similarity in SEVERAL:
        return max_sum_scorers(*given.vectors(), layout)
    one = score_blocks(given.scores("scores"), layout) if "scores" in files else vector_blocks(*given.vectors(), layout)
    return one, one


def given_vectors(
    files: Mapping[str, str], layout: GivenLayout, test: GivenTest, unpacked_in: Path
) -> tuple[Aligned, Aligned]:
    """The vectors of the images and sentences of a test split. Raises `InputError` for files that do not match."""
    return _GivenMatrices(files, layout, test, unpacked_in).vectors()


def zero_points(files: Mapping[str, str], layout: GivenLayout, test: GivenTest, unpacked_in: Path) -> dict[str, int]:
    """The numbers of ranked vectors that are zero, by key, which `dot` and `order` allow; a warning says them."""
    if layout.similarity not in ("dot", "order"):
        return {}
    items = {"images": test.images, "sentences": test.captions}
    vectors = zip(items.items(), given_vectors(files, layout, test, unpacked_in), strict=True)
    counts = {key: count_zeros(one.matrix.values, one.rows[of.needed]) for (key, of), one in vectors}
    for key, count in counts.items():
        if count:
            logger.warning("%s: %s vectors are zero", files[key], f"{count:,}")
    return {key: count for key, count in counts.items() if count}


def open_given_matrix(files: Mapping[str, str], key: str, layout: GivenLayout, unpacked_in: str | Path) -> Matrix:
    """One of a given row's files. Raises `InputError` as `open_matrix` does."""
    several = layout.similarity in SEVERAL and key in ("images", "sentences")
    return open_matrix(files[key], key, unpacked_in, dimensions=3 if several else 2)


class _GivenMatrices:
    """The matrices of a given row, matched with a test split."""

    def __init__(self, files: Mapping[str, str], layout: GivenLayout, test: GivenTest, unpacked_in: Path) -> None:
        self._files, self._layout, self._test, self._unpacked_in = files, layout, test, unpacked_in
        self._copies = layout.copies
        if layout.copies > 1:
            _check_sentences(test, layout.copies)

    def scores(self, key: str) -> Aligned:
        """A matrix of scores; the one of t2i has a row for each sentence and a column for each image."""
        matrix, by_sentence = self._open(key), key == "t2i"
        images, rows = self._images(matrix if not by_sentence else None)
        captions, columns = self._captions(matrix if by_sentence else None)
        values = matrix.values.T if by_sentence else matrix.values
        if values.shape != (images, captions):
            message = _shape_message(matrix, (images, captions), by_sentence, self._copies)
            raise InputError(message + self._unranked_hint(values.shape[1]))
        _check_copies(matrix.name, values, self._copies)
        return Aligned(matrix, rows, columns, by_sentence)

    def vectors(self) -> tuple[Aligned, Aligned]:
        """The vectors of images and of sentences."""
        images, sentences = self._open("images"), self._open("sentences")
        sizes = [one.values.shape[-1] for one in (images, sentences)]
        if sizes[0] != sizes[1]:
            raise InputError(
                f"{images.name}: a vector has {sizes[0]} numbers, and in {sentences.name} {sizes[1]}; vectors of "
                "images and sentences must be of one space."
            )
        found = []
        for matrix, (count, rows) in ((images, self._images(images)), (sentences, self._captions(sentences))):
            if len(matrix.values) != count:
                message = _shape_message(matrix, (count, *matrix.values.shape[1:]), False, self._copies)
                raise InputError(message + (self._unranked_hint(len(matrix.values)) if matrix is sentences else ""))
            refuse_constant_vectors(matrix.values, matrix.name)
            found.append(Aligned(matrix, rows, np.arange(matrix.values.shape[1])))
        _check_copies(images.name, images.values, self._copies)
        return found[0], found[1]

    def _unranked_hint(self, sentences: int) -> str:
        """A hint for a file with all sentences of the split where not all are ranked; empty for other numbers."""
        known, ranked = len(self._test.captions.known), len(self._test.captions.documented)
        if not ranked < known == sentences:
            return ""
        return (
            f" The test split has {known:,} sentences, of which the first five of each image are ranked (sentences: "
            "first_five of the data set): name yours by caption_ids, or leave the others out."
        )

    def _open(self, key: str) -> Matrix:
        return open_given_matrix(self._files, key, self._layout, self._unpacked_in)

    def _images(self, matrix: Matrix | None) -> tuple[int, Indices]:
        """The number of image rows, copies included, and the first row of each image; `matrix` may have their ids."""
        count, rows = self._order("image_ids", self._test.images, matrix)
        return count * self._copies, rows * self._copies

    def _captions(self, matrix: Matrix | None) -> tuple[int, Indices]:
        return self._order("caption_ids", self._test.captions, matrix)

    def _order(self, key: str, items: Items, matrix: Matrix | None) -> tuple[int, Indices]:
        ids, where = items.documented, ""
        if key in self._files:
            ids, where = read_ids(self._files[key]), self._files[key]
        if matrix and matrix.ids is not None:
            if where:
                raise InputError(f"{where}: the ids stand in {matrix.name} as well; leave {key} out.")
            ids, where = matrix.ids, matrix.name
        return len(ids), match_rows(items, ids, where)


def _check_sentences(test: GivenTest, copies: int) -> None:
    """Raises `InputError` that names images whose number of sentences is not the number of copies."""
    others = test.images.documented[test.sentences_of_image != copies]
    if len(others):
        raise InputError(
            f"copies: {copies} is for images with {copies} sentences each, and {len(others)} of the test split have "
            f"another number: {', '.join(map(str, others[:5]))}. Give each image once, or sentences: first_five of the "
            "data set where there are more."
        )


def _check_copies(name: str, values: NDArray[Any], copies: int) -> None:
    """Raises `InputError` that names the first row that is not a copy where it should be, by its first columns."""
    if copies == 1:
        return
    first = np.asarray(values[:, :COMPARED_COLUMNS], np.float64).reshape(len(values) // copies, copies, -1)
    largest = np.abs(first[np.isfinite(first)]).max(initial=0)
    alike = np.isclose(first, first[:, :1], ALIKE, ALIKE * largest, equal_nan=True)
    wrong = np.flatnonzero(~alike.all(axis=2))
    if len(wrong):
        raise InputError(
            f"{name}: with copies: {copies}, image {wrong[0]} should be a copy of image {wrong[0] // copies * copies}, "
            "counted from 0, and is not. Copies of an image stand one after the other, as in VSE++; otherwise leave "
            "copies out and name the images by image_ids."
        )


def _shape_message(matrix: Matrix, expected: tuple[int, ...], by_sentence: bool, copies: int) -> str:
    """A message about a matrix of another shape than expected, (images, sentences or D)."""
    found = matrix.values.shape[::-1] if by_sentence else matrix.values.shape
    needed, there = (
        " x ".join(f"{size:,}" for size in shape)
        for shape in (expected[:: -1 if by_sentence else 1], matrix.values.shape)
    )
    message = f"{matrix.name}: expected {needed}, as the test split has, found {there}"
    if found == expected[::-1]:
        return f"{message}: it is transposed; write its transpose."
    if copies == 1 and found[0] in range(2 * expected[0], found[0] + 1, expected[0]):
        return f"{message}. If each image stands there {found[0] // expected[0]} times, say so by copies."
    return f"{message}. Write all pairs, or name those that are there by image_ids and caption_ids."
