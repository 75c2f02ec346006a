"""The measures of CxC (Parekh et al., EACL 2021, section 5) from vectors of images and sentences.

Correlations with the ratings of pairs of two sentences (STS), two images (SIS), and a sentence and an image (SITS); and
retrieval of images by images (i2i) and of sentences by sentences (t2t), where a rating of at least 3 makes a right
answer. The same threshold gives the right answers of i2t and t2i in the package eccv_caption. A score is the cosine of
two vectors.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import spearmanr

from densevse.analyses.cxc.judgements import pair_kinds, read_ratings
from densevse.analyses.cxc.settings import TASKS
from densevse.artifacts.columns import IMAGE_ID
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.evaluation.relevance import answer_ranks
from densevse.evaluation.vectors import products
from densevse.runtime.arrays import Indices, Reals
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import TEXT, Column, Schema
from snakeproof.store import FeatureStore

RIGHT = 3.0
"""The smallest rating of a right answer."""
SENTENCES = 5
"""The sentences of each image that CxC ranks."""
DRAWS = 1000

CXC_SCORES = Schema(
    "cxc_scores",
    "a pair that people rated",
    (
        Column("task", TEXT, "sts, sis or sits"),
        Column("query", pa.int64(), "MS-COCO's number of the first of the two"),
        Column("rating", pa.float64(), "the mean of people's ratings, from 0 to 5"),
        Column("score", pa.float64(), "the cosine of their vectors"),
    ),
)
CXC_RANKS = Schema(
    "cxc_ranks",
    "an image or sentence with a right answer of its own kind",
    (
        Column("direction", TEXT, "i2i or t2t"),
        IMAGE_ID,
        Column("rank", pa.int64(), "of the first right answer among all others; ties count against the query"),
    ),
)


class RatedItems(NamedTuple):
    """The images or the sentences of a test split."""

    numbers: pd.Index  # MS-COCO's
    image_ids: NDArray[np.object_]
    vectors: NDArray[np.float32]  # (N, D), of length 1


def write_measures(
    embeddings: str,
    captions: str,
    judgements: Sequence[str],
    scores: str,
    ranks: str,
) -> None:
    """The job that writes CXC_SCORES and CXC_RANKS of a model's EMBEDDINGS; `judgements` are the files of TASKS.

    Raises `InputError` as `read_items` and `read_ratings` do, or for a rated image or sentence that is not in the test
    split.
    """
    items = read_items(embeddings, captions)
    ratings = {task: read_ratings(path, task) for task, path in zip(TASKS, judgements, strict=True)}
    places = {task: _pair_places(rows, task, items) for task, rows in ratings.items()}
    parts = [
        pd.DataFrame({"query": rows["first"], "rating": rows["rating"], "score": _cosines(places[task], task, items)})
        for task, rows in ratings.items()
    ]
    counts = [len(part) for part in parts]
    found = pd.concat(parts, ignore_index=True).assign(task=np.repeat(np.array([*TASKS], object), counts))
    schema.write(found, CXC_SCORES, scores, split="test")
    ranked = [
        _query_ranks(items[pair_kinds(task)[0]], places[task], ratings[task]["rating"].to_numpy()).assign(
            direction=direction
        )
        for task, direction in (("sis", "i2i"), ("sts", "t2t"))
    ]
    schema.write(pd.concat(ranked, ignore_index=True), CXC_RANKS, ranks, split="test")


def read_items(embeddings: str, captions: str) -> dict[str, RatedItems]:
    """The images, and the first five sentences of each, by their kind: image or caption.

    Raises `InputError` if the model has no vectors of them, or they are not MS-COCO's.
    """
    store, known = FeatureStore([embeddings], EMBEDDINGS), schema.read(captions, CAPTIONS)
    first = known[known["position"] < SENTENCES].set_index("caption_id")["sentid"]
    rows = store.rows
    found = {"image": rows[rows["kind"] == "image"]}
    found["caption"] = rows[(rows["kind"] == "sentence") & rows["caption_id"].isin(first.index)]
    for kind, own in found.items():
        if own.empty:
            raise InputError(f"{embeddings}: the model has no vector of {kind}s as a whole; measure another variant.")
    numbers = {
        "image": pd.to_numeric(found["image"]["image_id"], errors="coerce"),
        "caption": first[found["caption"]["caption_id"]],
    }
    if any(one.isna().any() for one in numbers.values()):
        raise InputError(f"{captions}: CxC is of MS-COCO, and these images or sentences have no numbers of it.")
    return {
        kind: RatedItems(
            pd.Index(numbers[kind].astype(np.int64)), own["image_id"].to_numpy(object), _unit_vectors(store, own.index)
        )
        for kind, own in found.items()
    }


def correlation(rated: pd.DataFrame) -> tuple[float, float]:
    """The mean of Spearman's correlation over draws of CXC_SCORES rows, and its standard deviation, in percent.

    A draw has half of the queries, and one of the pairs of each.
    """
    rating, score = rated["rating"].to_numpy(), rated["score"].to_numpy()
    codes, queries = pd.factorize(rated["query"])
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    start, random = np.cumsum(counts) - counts, np.random.default_rng(0)
    found = []
    for _ in range(DRAWS):
        half = random.permutation(len(queries))[: -(-len(queries) // 2)]
        rows = order[start[half] + random.integers(counts[half])]
        found.append(100 * float(spearmanr(rating[rows], score[rows]).statistic))
    return float(np.mean(found)), float(np.std(found))


def _pair_places(ratings: pd.DataFrame, task: str, items: Mapping[str, RatedItems]) -> tuple[Indices, Indices]:
    """The places of both of each pair among the items of their kinds."""
    found = []
    for side, kind in zip(("first", "second"), pair_kinds(task), strict=True):
        places: Indices = items[kind].numbers.get_indexer(pd.Index(ratings[side])).astype(np.int64)
        if (places < 0).any():
            number = ratings.loc[places < 0, side].iloc[0]
            raise InputError(
                f"{task}_test.csv: the {kind} {number} is not in the test split, or no vector of it is there; measure "
                "CxC on MS-COCO with all test images of Karpathy's split."
            )
        found.append(places)
    return found[0], found[1]


def _cosines(places: tuple[Indices, Indices], task: str, items: Mapping[str, RatedItems]) -> Reals:
    first, second = (items[kind].vectors[rows] for kind, rows in zip(pair_kinds(task), places, strict=True))
    cosines: Reals = np.einsum("nd,nd->n", first.astype(np.float64), second.astype(np.float64))
    return cosines


def _query_ranks(items: RatedItems, places: tuple[Indices, Indices], rating: Reals) -> pd.DataFrame:
    """The image_id of each query with a right answer, and the rank of its first one among all other items."""
    right, (first, second) = rating >= RIGHT, places
    pairs = pd.DataFrame({"query": np.r_[first, second], "answer": np.r_[second, first]})[np.r_[right, right]]
    answers = pairs.drop_duplicates().sort_values(["query", "answer"])
    queries, starts = np.unique(answers["query"].to_numpy(), return_index=True)
    of_each = np.split(answers["answer"].to_numpy(np.int64), starts[1:])
    truth = {int(query): (own, np.ones(len(own))) for query, own in zip(queries, of_each, strict=True)}

    def scores(queries: slice) -> NDArray[Any]:
        found = products(items.vectors[queries], items.vectors)
        found[np.arange(len(found)), np.arange(queries.start, queries.stop)] = -np.inf  # nothing finds itself
        return found

    ranks = answer_ranks(scores, truth)
    best = ranks.rank[np.flatnonzero(np.diff(ranks.query, prepend=-1))].astype(np.int64)
    return pd.DataFrame({"image_id": items.image_ids[queries], "rank": best})


def _unit_vectors(store: FeatureStore, rows: pd.Index) -> NDArray[np.float32]:
    """Vectors with length 1; those of length 0 stay."""
    vectors = store.gather(rows.to_numpy()).astype(np.float32)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(vectors, np.where(length == 0, 1, length), dtype=np.float32)
    return unit
