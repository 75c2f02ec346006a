"""A search with a given row, whose queries and candidates are vectors from elsewhere."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from densevse.analyses.searches.schemas import FOUND
from densevse.analyses.searches.searching import Scores, found_rows, search
from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.matrices import open_matrix
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.config.given import GivenLayout
from densevse.config.validation import validate
from densevse.evaluation.given.order import Items
from densevse.evaluation.given.retrieval import given_vectors, read_test
from densevse.evaluation.given.scoring import Aligned, read_vectors, similarities
from densevse.methods.interface import Embeddings, Encoding
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError
from densevse.runtime.numerics import set_up_processor

_VECTORS = "vectors"
"""The job's input with the vectors of a person's own sentences."""


class Question(NamedTuple):
    """A question to a given row: sentences or images of the test split, or sentences of a person's own."""

    ranked_sentences: str  # all or first_five, from the data set's settings
    top: int  # answers to each query
    image_ids: Sequence[str] = ()
    caption_ids: Sequence[str] = ()
    sentences: Sequence[str] = ()

    @property
    def asked(self) -> Literal["sentences", "photographs"]:
        """The kind of the queries."""
        return "photographs" if self.image_ids else "sentences"


class _Side:
    """Images or sentences as the rows of a matrix."""

    def __init__(self, vectors: Aligned, items: Indices, layout: GivenLayout) -> None:
        self._vectors, self._items, self._layout = vectors, items, layout

    def __len__(self) -> int:
        return len(self._items)

    def encoding(self, rows: Indices) -> Encoding:
        """The vectors of some of them."""
        return Embeddings(read_vectors(self._vectors, self._items[rows], self._layout))


def write_given_answers(
    layout: Mapping[str, Any],
    question: Mapping[str, Any],
    contents: Sequence[str],
    output: str,
    threads: int,
    **files: str,
) -> None:
    """The job that finds the best answers to a `Question` among the test split, and writes a FOUND artifact.

    `layout` is a `GivenLayout`, `contents` has digests of the user's files. `files` has the paths of image_table and
    caption_table, of the given row's images and sentences, and of `vectors` (sentences, D) if the sentences are a
    person's own. Raises `InputError` that names the wrong file, row or id.
    """
    set_up_processor(threads)
    rows = given_answers(
        files, validate(GivenLayout, layout, "the given row"), Question(**question), Path(output).parent
    )
    parents = {"images": files["image_table"], "captions": files["caption_table"]}
    made_from = lineage({"layout": layout, "question": question, "contents": contents}, parents)
    schema.write(rows, FOUND, output, made_from)


def given_answers(files: Mapping[str, str], layout: GivenLayout, question: Question, unpacked_in: Path) -> pd.DataFrame:
    """The FOUND rows of the best answers to a question, of the same files; packed ones are unpacked into a folder."""
    test = read_test(files["image_table"], files["caption_table"], "full", question.ranked_sentences)
    images, sentences = given_vectors(files, layout, test, unpacked_in)
    image_rows, caption_rows = _rows(test.images, question.image_ids), _rows(test.captions, question.caption_ids)
    captions = schema.read(files["caption_table"], CAPTIONS, ["caption_id", "text"]).set_index("caption_id")["text"]
    caption_ids = test.captions.ranked[caption_rows]
    texts = captions.reindex(caption_ids).to_numpy(object)
    if question.sentences:
        sentences = _own(files[_VECTORS], question.sentences, images, unpacked_in)
        caption_rows, texts = np.arange(len(question.sentences)), np.array(question.sentences, object)
        caption_ids = np.array([f"#{number}" for number in caption_rows], object)

    def compare(some_images: Encoding, some_sentences: Encoding) -> Scores:
        scores: Scores = similarities(some_images[0], some_sentences[0], layout).numpy()
        return scores

    sides = _Side(images, image_rows, layout), _Side(sentences, caption_rows, layout)
    found = search(compare, *sides, question.asked, question.top)
    return found_rows(found, question.asked, test.images.ranked[image_rows], caption_ids, texts)


def _rows(items: Items, asked: Sequence[str]) -> Indices:
    """The rows of the queries, by default all. Raises `InputError` that names missing ids."""
    if not asked:
        return np.arange(len(items.ranked))
    rows: Indices = pd.Index(items.ranked).get_indexer(pd.Index(asked)).astype(np.int64)
    unknown = [name for name, row in zip(asked, rows, strict=True) if row < 0]
    if unknown:
        raise InputError(
            f"{items.kind}_ids: the search names {', '.join(unknown)}, which the test split does not have or cannot "
            f"read; ids are in the column {items.kind}_id of {items.kind}s.parquet."
        )
    return rows


def _own(path: str, sentences: Sequence[str], images: Aligned, unpacked_in: Path) -> Aligned:
    """The vectors of a person's own sentences. Raises `InputError` if their shape is wrong."""
    matrix, expected = open_matrix(path, _VECTORS, unpacked_in), (len(sentences), len(images.columns))
    if matrix.values.shape != expected:
        raise InputError(
            f"{matrix.name}: expected {expected[0]} x {expected[1]}, a vector for each of the search's sentences "
            f"as long as those of images, found {matrix.values.shape[0]} x {matrix.values.shape[1]}; write them again."
        )
    return Aligned(matrix, np.arange(expected[0]), np.arange(expected[1]))
