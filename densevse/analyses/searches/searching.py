"""Searches: finds the best images for sentences, or sentences for images, among any number, in bounded memory.

Candidates come in tiles, and only the best answers are kept. So memory depends on the numbers of queries and answers,
not on the number of candidates. Vectors are those of a trained model, or of a given row.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from densevse.analyses.searches.schemas import FOUND
from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.matrices import open_matrix
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.config.given import GivenLayout
from densevse.config.strict import validate
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.evaluation.given.retrieval import Items, given_vectors, read_test
from densevse.evaluation.given.scoring import Aligned, read_vectors, similarities
from densevse.methods.interface import Embeddings, Encoding, Method, device_of
from densevse.methods.moving import to_device
from densevse.models.encoding import batches, evaluation
from densevse.models.encodings import KeptImages
from densevse.models.files import open_alone
from densevse.models.scoring import scorer
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError
from densevse.runtime.logs import progress
from densevse.runtime.numerics import set_up

Asked: TypeAlias = Literal["sentences", "photographs"]
"""The kind of the queries; the other kind is searched."""
Ids: TypeAlias = NDArray[np.object_]
Scores: TypeAlias = NDArray[np.float32]
CompareEncodings: TypeAlias = Callable[[Encoding, Encoding], Scores]
"""Computes the (I, S) scores of encoded images and sentences."""
Tile: TypeAlias = tuple[Indices, Encoding]
"""Consecutive rows, and their encoding."""

MOST_ROWS, MOST_BYTES = 4096, 2**26
"""The number of rows of a tile."""

KEPT_BYTES = 2**28
"""Encodings of queries that are kept; where there are more, the candidates are encoded again for each such part."""

_VECTORS = "vectors"
"""The job's input with the vectors of a person's own sentences."""


class Side(Protocol):
    """Images or sentences, encoded on demand."""

    def __len__(self) -> int: ...

    def encoding(self, rows: Indices) -> Encoding:
        """The encoding of some of them."""
        ...


@dataclass(frozen=True)
class SentencesOf:
    """The sentences of a split, which a method encodes."""

    method: Method
    pairs: Pairs

    def __len__(self) -> int:
        return len(self.pairs.rows.caption_ids)

    def encoding(self, rows: Indices) -> Encoding:
        """The encoding of some of them."""
        with evaluation(self.method):
            return self.method.encode_sentences(to_device(self.pairs.sentences(rows), device_of(self.method)))


@dataclass(frozen=True)
class GivenVectors:
    """Images or sentences whose vectors are rows of a given matrix."""

    vectors: Aligned
    items: Indices
    layout: GivenLayout

    def __len__(self) -> int:
        return len(self.items)

    def encoding(self, rows: Indices) -> Encoding:
        """The vectors of some of them."""
        return Embeddings(torch.from_numpy(read_vectors(self.vectors, self.items[rows], self.layout)))


class Answers(NamedTuple):
    """Answers to queries, in the order of the queries, best first."""

    query: Indices  # (answers,)
    row: Indices  # (answers,) the row of the answer among the candidates
    score: Scores  # (answers,)


def search(compare: CompareEncodings, images: Side, sentences: Side, asked: Asked, top: int) -> Answers:
    """The `top` best answers to each query.

    Each query is encoded once, and each candidate once for all queries whose encodings are kept together (see
    `KEPT_BYTES`). Of equal scores the earlier row comes first. Raises `InputError` that names a query whose score is
    not a number.
    """
    queries, searched = (sentences, images) if asked == "sentences" else (images, sentences)

    def score(asking: Encoding, candidates: Encoding) -> Scores:
        return compare(candidates, asking).T if asked == "sentences" else compare(asking, candidates)

    parts = [best for group in _kept(queries) for best in _answers(score, group, searched, top)]
    return Answers(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _kept(side: Side) -> Iterator[list[Tile]]:
    """All rows of a side, encoded, in groups of tiles that take at most `KEPT_BYTES` and one tile."""
    group: list[Tile] = []
    for rows in _tiles(side):
        group.append((rows, side.encoding(rows)))
        if sum(part.nbytes for _, encoding in group for part in encoding) >= KEPT_BYTES:
            yield group
            group = []
    if group:
        yield group


def _answers(score: CompareEncodings, group: Sequence[Tile], searched: Side, top: int) -> list[Answers]:
    """The best answers to the queries of each tile; `score` returns (queries, candidates)."""
    best = [Answers(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)) for _ in group]
    for rows in progress(_tiles(searched), "search"):
        candidates = searched.encoding(rows)
        for place, (numbers, asking) in enumerate(group):
            better = _candidates(score(asking, candidates), numbers, rows, top, _bars(best[place], numbers, top))
            best[place] = _best(best[place], better, top)
    return best


def found_rows(found: Answers, asked: Asked, image_ids: Ids, caption_ids: Ids, texts: Ids) -> pd.DataFrame:
    """The rows of a FOUND artifact, without unknown words, by the ids and texts of both sides."""
    image, sentence = (found.row, found.query) if asked == "sentences" else (found.query, found.row)
    return pd.DataFrame(
        {
            "query": found.query.astype(np.int32),
            "rank": (1 + np.arange(len(found.query)) - np.searchsorted(found.query, found.query)).astype(np.int32),
            "image_id": image_ids[image],
            "caption_id": caption_ids[sentence],
            "text": texts[sentence],
            "unknown_words": [[] for _ in found.row],
            "score": found.score,
        }
    )


def _tiles(side: Side) -> list[Indices]:
    """All rows of a side, in tiles, which are small for methods with large encodings."""
    row_bytes = sum(part.nbytes for part in side.encoding(np.zeros(1, np.int64)))
    return batches(len(side), min(MOST_ROWS, max(1, MOST_BYTES // row_bytes)))


def scores_by(method: Method, images: Encoding, sentences: Encoding) -> Scores:
    """The (I, S) scores of a method."""
    counts = len(images[0]), len(sentences[0])
    block = scorer(method, images, sentences)(*(np.arange(count) for count in counts))
    scores: Scores = block(*(slice(0, count) for count in counts)).float().cpu().numpy()
    return scores


def _bars(best: Answers, queries: Indices, top: int) -> Scores:
    """The score of each query's last answer, which a better one must exceed; minus infinity if places are free."""
    begin, end = (np.searchsorted(best.query, queries, side) for side in ("left", "right"))
    full = end - begin == top
    bars = np.full(len(queries), -np.inf, np.float32)
    bars[full] = best.score[end[full] - 1]
    return bars


def _candidates(scores: Scores, queries: Indices, rows: Indices, top: int, bars: Scores) -> Answers:
    """The (queries, rows) scores that may be among the `top` best: at least as high as the last of them.

    Nearly all are below the `bars` of earlier tiles, so few queries have more than `top` candidates.
    """
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        query = queries[int(finite.argmin())]
        raise InputError(f"query {query} (counted from 0): the model gives it a score that is not a number.")
    crowded = np.count_nonzero(scores >= bars[:, None], axis=1) > top
    if crowded.any():
        bars[crowded] = np.partition(scores[crowded], -top, axis=1)[:, -top]
    query, row = np.nonzero(scores >= bars[:, None])
    return Answers(queries[query], rows[row], scores[query, row])


def _best(some: Answers, others: Answers, top: int) -> Answers:
    """The `top` best of each query among two groups of answers."""
    query, row = (np.concatenate(parts) for parts in ((some.query, others.query), (some.row, others.row)))
    score = np.concatenate((some.score, others.score))
    order = np.lexsort((row, -score, query))
    place = np.arange(len(query)) - np.searchsorted(query[order], query[order])
    kept = order[place < top]
    return Answers(query[kept], row[kept], score[kept])


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
    named = Files(files)
    inputs, method = open_alone(named, model, set_up(threads))
    rows = answers(method, inputs, encodings, split, asked, top)
    parents = {**named.named(), "model": model, "encodings": encodings}
    schema.write(rows, FOUND, output, lineage({"asked": asked, "top": top, "split": split}, parents))


def answers(method: Method, inputs: Inputs, encodings: str | Path, split: str, asked: Asked, top: int) -> pd.DataFrame:
    """The FOUND rows of the `top` best answers to each query.

    `asked` says whether queries are the sentences of `inputs` (of a split) or the images of `encodings`; the others are
    searched. Raises `InputError` that names a query sentence without any known word.
    """
    pairs = inputs.sentences_alone(split)
    images = KeptImages(encodings, type(method), device_of(method))
    ids = pairs.rows.caption_ids
    texts = _texts(inputs.files.one("caption_table"), ids)
    if asked == "sentences" and inputs.knows_words:
        _check_understood(inputs, ids, texts)
    found = search(partial(scores_by, method), images, SentencesOf(method, pairs), asked, top)
    rows = found_rows(found, asked, images.image_ids, ids, texts)
    if inputs.knows_words:
        known, tokens = inputs.vocabulary, inputs.tokens_of(rows["caption_id"].to_numpy(object))
        rows["unknown_words"] = [[word for word in words if word not in known] for words in tokens]
    return rows


def _texts(caption_table: str, caption_ids: Ids) -> Ids:
    """The sentences of some captions."""
    captions = schema.read(caption_table, CAPTIONS, ["caption_id", "text"]).set_index("caption_id")["text"]
    return captions.reindex(caption_ids).to_numpy(object)


def _check_understood(inputs: Inputs, caption_ids: Ids, texts: Ids) -> None:
    """Raises `InputError` that names sentences without a known word, or unparsed ones if the model reads parses."""
    known = inputs.vocabulary
    nothing = [not any(word in known for word in tokens) for tokens in inputs.tokens_of(caption_ids)]
    if any(nothing):
        raise InputError(
            f"sentences: the model knows no word of {_quoted(texts[nothing])}. Put it in words that its training "
            f"sentences had: {inputs.files.one('words')} lists them."
        )
    if "parses" in inputs.files:
        failed = sorted(inputs.unparsed(caption_ids))
        if failed:
            raise InputError(
                f"sentences: {_quoted(texts[failed])} could not be parsed, and the model reads parses "
                f"({inputs.files.several('parses')[0]} says why). Put it in other words, or name a variant that reads "
                "words alone, such as vse."
            )


def _quoted(texts: Ids) -> str:
    return ", ".join(map(repr, texts))


class Question(NamedTuple):
    """A question to a given row: sentences or images of the test split, or sentences of a person's own."""

    ranked_sentences: str  # all or first_five, from the data set's settings
    top: int  # answers to each query
    image_ids: Sequence[str] = ()
    caption_ids: Sequence[str] = ()
    sentences: Sequence[str] = ()

    @property
    def asked(self) -> Asked:
        """The kind of the queries."""
        return "photographs" if self.image_ids else "sentences"


def write_given_answers(
    layout: Mapping[str, Any],
    question: Mapping[str, Any],
    contents: Sequence[str],
    output: str,
    **files: str,
) -> None:
    """The job that finds the best answers to a `Question` among the test split, and writes a FOUND artifact.

    `layout` is a `GivenLayout`, `contents` has digests of the user's files. `files` has the paths of image_table and
    caption_table, of the given row's images and sentences, and of `vectors` (sentences, D) if the sentences are a
    person's own. Raises `InputError` that names the wrong file, row or id.
    """
    meaning, query = validate(GivenLayout, layout, "the given row"), Question(**question)
    unpacked_in = Path(output).parent
    test = read_test(files["image_table"], files["caption_table"], "full", query.ranked_sentences)
    images, sentences = given_vectors(files, meaning, test, unpacked_in)
    image_rows, caption_rows = _rows(test.images, query.image_ids), _rows(test.captions, query.caption_ids)
    caption_ids = test.captions.ranked[caption_rows]
    texts = _texts(files["caption_table"], caption_ids)
    if query.sentences:
        sentences = _own(files[_VECTORS], query.sentences, images, unpacked_in)
        caption_rows, texts = np.arange(len(query.sentences)), np.array(query.sentences, object)
        caption_ids = np.array([f"#{number}" for number in caption_rows], object)

    def compare(some_images: Encoding, some_sentences: Encoding) -> Scores:
        return similarities(some_images[0].numpy(), some_sentences[0].numpy(), meaning)

    sides = GivenVectors(images, image_rows, meaning), GivenVectors(sentences, caption_rows, meaning)
    found = search(compare, *sides, query.asked, query.top)
    rows = found_rows(found, query.asked, test.images.ranked[image_rows], caption_ids, texts)
    parents = {"images": files["image_table"], "captions": files["caption_table"]}
    made_from = lineage({"layout": layout, "question": question, "contents": contents}, parents)
    schema.write(rows, FOUND, output, made_from)


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
