"""Searches for image - word + word, measures the accuracy of the answers, and draws some.

This is "Multimodal linguistic regularities" of Kiros et al. 2014. The paper shows pictures, with the query by the added
word alone as a sanity check. If the objects of images are known by name, answers can be counted: for "blue ball" minus
"blue" plus "red", an image with a red ball is right. The queries by the plain image and by the added word alone are
baselines.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import gammaln

from densevse.artifacts.columns import IMAGE_ID
from densevse.artifacts.families import read_families
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.report.accuracies import ACCURACY_INTERVALS, accuracies, accuracy_cells, gain_cells, write_accuracies
from densevse.report.figures import RIGHT_COLOUR, WRONG_COLOUR, draw_picture, save_figure
from densevse.report.pictures import Pixels, pictures
from densevse.report.rendering import Document, Sheet, TableColumn, number
from densevse.runtime.arrays import Indices, Reals, spaced_indices
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.store import FeatureStore

BY = ("arithmetic", "image", "word")
"""The vectors of the queries: image - word + word; the image alone; the added word alone."""

NAMED = "named"
"""The kind of a query that the configuration names; other kinds are named after the exchanged words."""

ARITHMETIC = Schema(
    "arithmetic",
    "an image that is found for an image less a word plus a word",
    (
        IMAGE_ID,
        Column("kind", TEXT, "which words are exchanged, e.g. colour; `named` for a query of the configuration"),
        Column("minus", TEXT, "the word that is taken away"),
        Column("plus", TEXT, "the word that is added"),
        Column("by", TEXT, "the vector that is searched with: arithmetic, image (alone) or word (the added one alone)"),
        Column("rank", NUMBER, "from 1; the query's own image is not ranked"),
        Column("found", TEXT, "the image of this rank"),
        Column("score", REAL, "the cosine of its vector and the one that is searched with"),
        Column("right", pa.bool_(), "whether it shows the object with the word exchanged; null where unknown", True),
        Column("all_right", NUMBER, "how many of the ranked images do; -1 where unknown"),
        Column("ranked", NUMBER, "how many images are ranked"),
    ),
)

ARITHMETIC_ACCURACY = Schema(
    "arithmetic_accuracy",
    "a way to search for images, on all queries that exchange words of one kind",
    (
        Column("kind", TEXT, "which words are exchanged"),
        Column("by", TEXT, "the vector that is searched with"),
        Column("first", NUMBER, "k: a query counts where one of the first k images is right"),
        Column("queries", NUMBER, "how many queries there are"),
        Column("accuracy", REAL, "the share of queries that count, from 0 to 1"),
        Column("low", REAL, "the lower end of its 95% interval, by a bootstrap over families of images", nullable=True),
        Column("high", REAL, "the upper end", nullable=True),
        Column("chance", REAL, "the accuracy of images in random order"),
        Column("gain", REAL, "the accuracy of the arithmetic less this one"),
        Column("gain_low", REAL, "the lower end of its paired 95% interval", nullable=True),
        Column("gain_high", REAL, "the upper end", nullable=True),
    ),
)

Objects: TypeAlias = Mapping[str, list[frozenset[str]]]

FIRST = (1, 5)
_DRAWN_QUERIES, _DRAWN_ANSWERS = 8, 4


class Query(NamedTuple):
    """An image, a word to subtract and one to add, and the words of the wanted object, if known."""

    image_id: str
    kind: str
    minus: str
    plus: str
    wanted: frozenset[str] | None = None


class Vectors(NamedTuple):
    """The embeddings of a split, of unit norm."""

    image_ids: NDArray[np.object_]
    images: NDArray[np.float32]  # (images, dimension)
    words: Mapping[str, NDArray[np.float32]]


def write_arithmetic(
    embeddings: str,
    exchanged: Mapping[str, Sequence[str]],
    named: Sequence[Sequence[str]],
    output: str,
    boxes: str | None = None,
) -> None:
    """The job that answers the `named` queries (image, word to subtract, word to add), and those from true boxes.

    `exchanged` lists, by kind, the words of objects' names that replace each other. Raises `InputError` that names a
    query with an unknown image or word.
    """
    vectors = _read_vectors(embeddings)
    objects = _object_words(boxes, exchanged) if boxes else {}
    queries = [Query(image, NAMED, minus, plus) for image, minus, plus in named]
    queries += [
        query for kind, words in exchanged.items() for query in _exchange_queries(kind, words, vectors, objects)
    ]
    schema.write(_answers(vectors, queries, objects), ARITHMETIC, output)


def write_table(found: str, image_table: str, title: str, parquet: str, markdown: str, html: str, latex: str) -> None:
    """The job that measures the accuracy of ARITHMETIC rows: ARITHMETIC_ACCURACY rows, Markdown, page and LaTeX.

    Raises `InputError` if all queries are named ones, whose right answers are unknown.
    """
    rows = schema.read(found, ARITHMETIC)
    judged = rows[rows["kind"] != NAMED]
    if judged.empty:
        raise InputError(f"{found}: no query has known right answers; set arithmetic.<data set>.exchanged.")
    counted = accuracy(judged, read_families(image_table))
    paths = (parquet, markdown, html, latex)
    write_accuracies(counted, ARITHMETIC_ACCURACY, table(counted, title), paths)


def accuracy(rows: pd.DataFrame, families: pd.Series) -> pd.DataFrame:
    """ARITHMETIC_ACCURACY rows. Intervals draw over `families`, given by image."""
    found = []
    for kind, of_kind in rows.groupby("kind", sort=False):
        asked = of_kind.drop_duplicates("image_id").set_index("image_id")
        for first in FIRST:
            near = of_kind[of_kind["rank"] <= first].astype({"right": float})
            hits = {
                by: rows.groupby("image_id")["right"].max().reindex(asked.index).to_numpy(float)
                for by, rows in near.groupby("by")
            }
            chance = float(_hit_probability(asked["all_right"].to_numpy(), asked["ranked"].to_numpy(), first).mean())
            counted = pd.DataFrame(accuracies({by: hits[by] for by in BY}, families.reindex(asked.index)))
            found.append(counted.assign(kind=kind, first=first, queries=len(asked), chance=chance))
    return pd.concat(found, ignore_index=True)


_TITLES = {"arithmetic": "image - word + word", "image": "the image alone", "word": "the added word alone"}


def table(rows: pd.DataFrame, title: str) -> Document:
    """ARITHMETIC_ACCURACY rows as a table."""
    columns = (
        TableColumn("searched with", number=False),
        *(TableColumn(name) for name in ("first", "accuracy", "95%", "chance", "gain", "95%")),
    )
    sheets = []
    for kind, of_kind in rows.groupby("kind", sort=False):
        cells = [
            [
                _TITLES[row["by"]],
                str(row["first"]),
                *accuracy_cells(row),
                number(100 * row["chance"]),
                *gain_cells(row, BY[0]),
            ]
            for row in of_kind.to_dict("records")
        ]
        sheets.append(Sheet(f"{kind}: {int(of_kind['queries'].iloc[0])} queries", columns, cells))
    notes = [
        "Accuracy: the share (%) of queries for which one of the first images shows the object with the exchanged "
        "word.",
        "Gain: the accuracy of the arithmetic minus that of this line.",
        ACCURACY_INTERVALS,
    ]
    return Document(title, sheets, notes)


def draw_arithmetic(found: str, image_table: str, sources: Mapping[str, str], title: str, output: str) -> None:
    """The job that draws queries of an ARITHMETIC artifact, one in each line: the named ones, else some evenly spaced.

    On the left are the best images of the arithmetic, on the right, as the paper's sanity check, those of the added
    word alone. Right ones have a green frame and wrong ones a red one, if that is known. `sources` are the data set's
    files in the order of their names.
    """
    rows = schema.read(found, ARITHMETIC)
    queries = [answers for _, answers in rows.groupby(["kind", "image_id", "minus", "plus"], sort=False)]
    named = [answers for answers in queries if answers["kind"].iloc[0] == NAMED]
    shown = named or [queries[number] for number in spaced_indices(len(queries), _DRAWN_QUERIES)]
    picture = pictures(image_table, sources)
    figure = Figure(figsize=(1.7 * (2 + 2 * _DRAWN_ANSWERS), 2.1 * len(shown) + 0.8), layout="constrained")
    figure.suptitle(f"{title}: image - word + word, and the added word alone", parse_math=False)
    lines = figure.subplots(len(shown), 2 + 2 * _DRAWN_ANSWERS, squeeze=False)
    for line, answers in zip(lines, shown, strict=True):
        _draw_query(list(line), answers, picture)
    save_figure(
        figure, output, "Frames, where the answer is known: green is right, red is wrong. The best answer comes first."
    )


def _draw_query(line: list[Axes], answers: pd.DataFrame, picture: Callable[[str], Pixels]) -> None:
    """Draws one query: its image, the answers of the arithmetic and, after a gap, those of the word alone."""
    for place in line:
        place.set_axis_off()
    query = answers.iloc[0]
    draw_picture(line[0], picture(query["image_id"]))
    line[0].set_title(f"- {query['minus']} + {query['plus']}", fontsize=9, parse_math=False)
    line[2 + _DRAWN_ANSWERS].set_title(query["plus"], fontsize=9, parse_math=False)
    for start, by in ((1, "arithmetic"), (2 + _DRAWN_ANSWERS, "word")):
        best = answers[answers["by"] == by].head(_DRAWN_ANSWERS)
        for place, found, right in zip(line[start:], best["found"], best["right"], strict=False):
            draw_picture(place, picture(found), None if pd.isna(right) else RIGHT_COLOUR if right else WRONG_COLOUR)


def _read_vectors(embeddings: str) -> Vectors:
    store = FeatureStore([embeddings], EMBEDDINGS)
    vectors = store.gather(np.arange(len(store))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-12)
    kind = store.rows["kind"].to_numpy(object)
    words = dict(zip(store.rows["text"][kind == "word"], vectors[kind == "word"], strict=True))
    if not (kind == "image").any() or not words:
        raise InputError(
            f"{embeddings}: arithmetic needs vectors of images and of words, which this method does not have."
        )
    return Vectors(store.rows["image_id"].to_numpy(object)[kind == "image"], vectors[kind == "image"], words)


def _object_words(boxes: str, exchanged: Mapping[str, Sequence[str]]) -> dict[str, list[frozenset[str]]]:
    """The words of each object's name that may be exchanged, by image."""
    known = {word for words in exchanged.values() for word in words}
    rows = schema.read(boxes, BOXES, ["image_id", "caption_id", "phrase"])
    rows = rows[rows["caption_id"] == ""].drop_duplicates()
    names = [frozenset(name.split()) & known for name in rows["phrase"]]
    objects: dict[str, list[frozenset[str]]] = {}
    for image_id, name in zip(rows["image_id"], names, strict=True):
        objects.setdefault(image_id, []).append(name)
    return objects


def _exchange_queries(kind: str, words: Sequence[str], vectors: Vectors, objects: Objects) -> list[Query]:
    """A query for each image with an object of such a word, with the next word that none of its objects has."""
    queries = []
    for image_id in vectors.image_ids:
        here = objects.get(image_id, [])
        found = [(one, word) for one in here for word in words if word in one]
        if not found:
            continue
        changed, minus = found[0]
        start = words.index(minus)
        free = [word for word in (*words[start:], *words[:start]) if not any(word in one for one in here)]
        if free:
            queries.append(Query(image_id, kind, minus, free[0], changed - {minus} | {free[0]}))
    return queries


def _answers(vectors: Vectors, queries: Sequence[Query], objects: Objects) -> pd.DataFrame:
    """ARITHMETIC rows; a query without any right image is left out."""
    row = {image_id: number for number, image_id in enumerate(vectors.image_ids)}
    _check_queries(queries, row, vectors.words)
    shown = [objects.get(image_id, []) for image_id in vectors.image_ids]
    right_of = {one.wanted: np.array([one.wanted in here for here in shown]) for one in queries}
    asked = [one for one in queries if one.wanted is None or right_of[one.wanted].any()]
    if not asked:
        raise InputError("there are no queries: name some, or words of objects' names that stand for each other.")
    own = np.array([row[one.image_id] for one in asked])
    x, plus = vectors.images[own], np.stack([vectors.words[one.plus] for one in asked])
    minus = np.stack([vectors.words[one.minus] for one in asked])
    right = np.stack([right_of[one.wanted] for one in asked])
    columns = (
        pd.DataFrame(asked)
        .drop(columns="wanted")
        .assign(
            all_right=np.where([one.wanted is None for one in asked], -1, right.sum(axis=1)).astype(np.int32),
            ranked=np.int32(len(row) - 1),
        )
    )
    return pd.concat(
        [
            _nearest_images(vectors, vector, own, right, columns.assign(by=by))
            for by, vector in zip(BY, (x - minus + plus, x, plus), strict=True)
        ],
        ignore_index=True,
    )


def _nearest_images(
    vectors: Vectors, searched_with: NDArray[np.float32], own: Indices, right: NDArray[np.bool_], queries: pd.DataFrame
) -> pd.DataFrame:
    """The first images of each query (n,), by vectors (n, dimension); `right` is (n, images)."""
    scores = searched_with / np.linalg.norm(searched_with, axis=1, keepdims=True) @ vectors.images.T
    scores[np.arange(len(own)), own] = -np.inf
    best = np.argsort(-scores, axis=1, kind="stable")[:, : min(max(FIRST), len(vectors.image_ids) - 1)]
    rows = queries.loc[queries.index.repeat(best.shape[1])]
    is_right = pd.array(np.take_along_axis(right, best, axis=1).ravel(), dtype="boolean")
    is_right[(rows["all_right"] < 0).to_numpy()] = pd.NA
    return rows.assign(
        rank=np.tile(np.arange(1, 1 + best.shape[1], dtype=np.int32), len(best)),
        found=vectors.image_ids[best].ravel(),
        score=np.take_along_axis(scores, best, axis=1).ravel().astype(np.float32),
        right=is_right,
    )


def _check_queries(queries: Sequence[Query], images: Mapping[str, int], words: Mapping[str, Any]) -> None:
    """Raises `InputError` that names an unknown image or word of a query."""
    for query in queries:
        if query.image_id not in images:
            raise InputError(f"arithmetic: no image {query.image_id!r} in the test split.")
        for word in (query.minus, query.plus):
            if word not in words:
                raise InputError(f"arithmetic: the model does not know the word {word!r} of {query.image_id}'s query.")


def _hit_probability(right: NDArray[np.integer[Any]], ranked: NDArray[np.integer[Any]], first: int) -> Reals:
    """The probability that one of the `first` images in random order is right: 1 - C(n - r, k) / C(n, k)."""
    wrong = ranked - right
    logarithm = gammaln(wrong + 1) - gammaln(np.maximum(wrong - first, 0) + 1)
    logarithm -= gammaln(ranked + 1) - gammaln(ranked - first + 1)
    found: Reals = np.where(wrong < first, 1.0, 1 - np.exp(logarithm))
    return found
