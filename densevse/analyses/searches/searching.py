"""The jobs of searches: answers by a trained model, or by the vectors of a given row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.analyses.searches.schemas import FOUND
from densevse.artifacts.matrices import open_matrix
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.vectors import refuse_constant_vectors
from densevse.config.given import SEVERAL, GivenLayout
from densevse.data.distinct import Distinct
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.evaluation.given.retrieval import Items, given_vectors, read_test
from densevse.evaluation.given.scoring import Aligned, read_vectors, similarities
from densevse.language.parses import OK
from densevse.methods.interface import Embeddings, Encoding, Method, module_device
from densevse.methods.moving import to_device
from densevse.models.encoding import BATCH, batches, evaluation
from densevse.models.encodings import KeptImages
from densevse.models.files import open_new_data
from densevse.models.searching import Answers, Asked, Scores, score_encodings, search
from densevse.runtime.arrays import Indices
from densevse.runtime.numerics import set_up
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.strict import validate

Ids: TypeAlias = NDArray[np.object_]

_VECTORS = "vectors"
"""The job's input with the vectors of a person's own sentences."""


@dataclass(frozen=True)
class SentencesOf:
    """The sentences of a split, which a method encodes."""

    method: Method
    pairs: Pairs

    @property
    def distinct(self) -> Distinct:
        """The sentences as kinds that the method reads alike."""
        return self.pairs.distinct_sentences

    def encoding(self, rows: Indices) -> Encoding:
        """The encoding of some of them."""
        with evaluation(self.method):
            return self.method.encode_sentences(to_device(self.pairs.sentences(rows), module_device(self.method)))


@dataclass(frozen=True)
class GivenVectors:
    """Images or sentences whose vectors are rows of a given matrix."""

    vectors: Aligned
    items: Indices
    layout: GivenLayout

    @cached_property
    def distinct(self) -> Distinct:
        """The items as kinds of equal vectors."""
        tiles = (read_vectors(self.vectors, self.items[rows], self.layout) for rows in batches(len(self.items), BATCH))
        return Distinct.from_contents(vector for tile in tiles for vector in tile)

    def encoding(self, rows: Indices) -> Encoding:
        """The vectors of some of them."""
        return Embeddings(torch.from_numpy(read_vectors(self.vectors, self.items[rows], self.layout)))


def found_rows(found: Answers, asked: Asked, image_ids: Ids, caption_ids: Ids, texts: Ids) -> pd.DataFrame:
    """The rows of a FOUND artifact, without unknown words, by the ids and texts of both sides."""
    image, sentence = (found.row, found.query) if asked == "sentences" else (found.query, found.row)
    return pd.DataFrame(
        {
            "query": found.query.astype(np.int32),
            "rank": found.rank,
            "image_id": image_ids[image],
            "caption_id": caption_ids[sentence],
            "text": texts[sentence],
            "unknown_words": [[] for _ in found.row],
            "score": found.score,
        }
    )


def write_answers(
    model: str,
    encodings: str,
    output: str,
    split: str,
    asked: Asked,
    top: int,
    threads: int,
    **files: str | list[str],
) -> None:
    """The job that finds the `top` best answers to each query by a trained `model`, and writes a FOUND artifact.

    `files` are the model's inputs about the sentences. Raises `InputError` as `answers` does, or if the files do not
    fit the model.
    """
    device = set_up(threads)
    inputs, method = open_new_data(Files(files), model, device)
    rows = answers(method, inputs, KeptImages(encodings, type(method), device), split, asked, top)
    schema.write(rows, FOUND, output)


def answers(method: Method, inputs: Inputs, images: KeptImages, split: str, asked: Asked, top: int) -> pd.DataFrame:
    """The FOUND rows of the `top` best answers to each query.

    `query_kind` says whether queries are the sentences of `inputs` (of a split) or the `images`; it ranks the others.
    Raises `InputError` that names a query sentence without any known word.
    """
    pairs = inputs.all_sentences(split)
    ids = pairs.rows.caption_ids
    texts = _texts(inputs.files.input_path("caption_table"), ids)
    if asked == "sentences" and inputs.knows_words:
        _check_sentences(inputs, ids, texts)
    found = search(partial(score_encodings, method), images, SentencesOf(method, pairs), asked, top)
    rows = found_rows(found, asked, images.image_ids, ids, texts)
    if inputs.knows_words:
        known, tokens = inputs.vocabulary, inputs.sentence_tokens(rows["caption_id"].to_numpy(object))
        rows["unknown_words"] = [[word for word in words if word not in known] for words in tokens]
    return rows


def _texts(caption_table: str, caption_ids: Ids) -> Ids:
    """The sentences of some captions."""
    captions = schema.read(caption_table, CAPTIONS, ["caption_id", "text"]).set_index("caption_id")["text"]
    return captions.reindex(caption_ids).to_numpy(object)


def _check_sentences(inputs: Inputs, caption_ids: Ids, texts: Ids) -> None:
    """Raises `InputError` that names sentences without a known word, or unparsed ones if the model reads parses."""
    known = inputs.vocabulary
    nothing = [not any(word in known for word in tokens) for tokens in inputs.sentence_tokens(caption_ids)]
    if any(nothing):
        raise InputError(
            f"sentences: the model knows no word of {_quote_texts(texts[nothing])}. Put it in words that its training "
            f"sentences had: {inputs.files.input_path('words')} lists them."
        )
    if "parses" in inputs.files:
        statuses = sorted(inputs.parses(caption_ids, ["status"]))
        failed = [f"{texts[place]!r} ({status})" for place, status in statuses if status != OK]
        if failed:
            raise InputError(
                f"sentences: {', '.join(failed)} could not be parsed, and the model reads parses. Put it in other "
                "words, or name a variant that reads words alone, such as vse."
            )


def _quote_texts(texts: Ids) -> str:
    return ", ".join(map(repr, texts))


class Question(NamedTuple):
    """A question to a given row: sentences or images of the test split, or sentences of a person's own."""

    ranked_sentences: str  # all or first_five, from the data set's settings
    top: int  # answers to each query
    image_ids: Sequence[str] = ()
    caption_ids: Sequence[str] = ()
    sentences: Sequence[str] = ()

    @property
    def query_kind(self) -> Asked:
        """The kind of the queries."""
        return "photographs" if self.image_ids else "sentences"


def write_given_answers(layout: Mapping[str, Any], question: Mapping[str, Any], output: str, **files: str) -> None:
    """The job that finds the best answers to a `Question` among the test split, and writes a FOUND artifact.

    `layout` is a `GivenLayout`. `files` has the paths of image_table and caption_table, of the given row's images and
    sentences, and of `vectors` (sentences, D) if the sentences are a person's own. Raises `InputError` that names the
    wrong file, row or id.
    """
    meaning, query = validate(GivenLayout, layout, "the given row"), Question(**question)
    unpacked_in = Path(output).parent
    test = read_test(files["image_table"], files["caption_table"], "full", query.ranked_sentences)
    if meaning.similarity in SEVERAL:
        raise InputError(
            f"similarity: {meaning.similarity}: a search compares one vector of each image and sentence, and this row "
            "has several; search by another row."
        )
    images, sentences = given_vectors(files, meaning, test, unpacked_in)
    image_rows, caption_rows = _query_rows(test.images, query.image_ids), _query_rows(test.captions, query.caption_ids)
    caption_ids = test.captions.ranked[caption_rows]
    texts = _texts(files["caption_table"], caption_ids)
    if query.sentences:
        sentences = _own_vectors(files[_VECTORS], query.sentences, images, unpacked_in)
        caption_rows, texts = np.arange(len(query.sentences)), np.array(query.sentences, object)
        caption_ids = np.array([f"#{number}" for number in caption_rows], object)

    def compare(some_images: Encoding, some_sentences: Encoding) -> Scores:
        return similarities(some_images[0].numpy(), some_sentences[0].numpy(), meaning)

    sides = GivenVectors(images, image_rows, meaning), GivenVectors(sentences, caption_rows, meaning)
    found = search(compare, *sides, query.query_kind, query.top)
    rows = found_rows(found, query.query_kind, test.images.ranked[image_rows], caption_ids, texts)
    schema.write(rows, FOUND, output)


def _query_rows(items: Items, asked: Sequence[str]) -> Indices:
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


def _own_vectors(path: str, sentences: Sequence[str], images: Aligned, unpacked_in: Path) -> Aligned:
    """The vectors of a person's own sentences. Raises `InputError` if their shape is wrong."""
    matrix, expected = open_matrix(path, _VECTORS, unpacked_in), (len(sentences), len(images.columns))
    if matrix.values.shape != expected:
        raise InputError(
            f"{matrix.name}: expected {expected[0]} x {expected[1]}, a vector for each of the search's sentences "
            f"as long as those of images, found {matrix.values.shape[0]} x {matrix.values.shape[1]}; write them again."
        )
    refuse_constant_vectors(matrix.values, matrix.name)
    return Aligned(matrix, np.arange(expected[0]), np.arange(expected[1]))
