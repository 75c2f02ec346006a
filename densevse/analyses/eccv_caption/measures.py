"""Measures of ECCV Caption and CxC, from the lists of a retrieval and the true answers of its queries.

Lists are read by MS-COCO's ids, and checked against the benchmarks' queries.

mAP@R, R-Precision and R@1 are those of Chun et al., ECCV 2022 (mAP@R is from Musgrave et al., A Metric Learning
Reality Check, ECCV 2020); the recalls at K of CxC are those of Parekh et al., EACL 2021. A tie is never a hit: among
candidates with equal scores the wrong ones come first.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.analyses.eccv_caption.plan import LISTED
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.metrics import DIRECTIONS, RECALLS
from densevse.runtime.arrays import Indices, Reals
from densevse.runtime.errors import InputError

_Hits = NDArray[np.bool_]
_KINDS = {"i2t": "images", "t2i": "sentences"}
"""The queries of a direction; the candidates are those of the other direction."""


class AnswerLists(NamedTuple):
    """The L best candidates of Q queries of one direction, best first, by MS-COCO's ids."""

    row_of_query: Mapping[int, int]
    found: Indices  # (Q, L)
    scores: NDArray[np.float32]  # (Q, L)

    def hits(self, query: int, answers: Sequence[int]) -> _Hits:
        """(L,) true at each place with one of the `answers`.

        The last place is always false, as candidates beyond it may have the same score.
        """
        row = self.row_of_query[query]
        scores = self.scores[row]
        right = np.isin(self.found[row], answers) & (scores > scores[-1])
        hits: _Hits = right[np.lexsort((right, -scores))]
        return hits


def precisions(hits: _Hits, answers: int) -> tuple[float, float, float]:
    """mAP@R, R-Precision and R@1 of a query with R `answers`, from its `hits` (L,), where L > R."""
    of_answers = hits[:answers]
    precision = 1 - np.cumsum(~of_answers) / np.arange(1, answers + 1)
    return float(np.mean(np.where(of_answers, precision, 0))), float(precision[-1]), float(hits[0])


def recalls(hits: _Hits, answers: int) -> tuple[float, ...]:
    """Recalls at 1, 5 and 10 of a query, from its `hits` (L,), for any number of `answers`."""
    return tuple(float(hits[:k].any()) for k in RECALLS)


BENCHMARKS = {
    "eccv": (precisions, ("map_at_r", "rprecision", "r1")),
    "cxc": (recalls, tuple(f"r{k}" for k in RECALLS)),
}
"""The function and the names of the measures of each benchmark."""

MEASURE_COLUMNS = tuple(
    f"{benchmark}_{direction}_{name}"
    for benchmark, (_, names) in BENCHMARKS.items()
    for direction in DIRECTIONS
    for name in names
)


def measure(
    lists: Mapping[str, AnswerLists], benchmarks: Mapping[str, Mapping[str, Mapping[int, Sequence[int]]]]
) -> dict[str, Reals]:
    """Each measure of MEASURE_COLUMNS, (queries,) in the order of its benchmark's queries, from 0 to 1.

    `lists` are by direction; `benchmarks` have the true answers of each by direction and query.
    """
    found: dict[str, Reals] = {}
    for benchmark, (of_query, names) in BENCHMARKS.items():
        for direction in DIRECTIONS:
            true, listed = benchmarks[benchmark][direction], lists[direction]
            rows = [of_query(listed.hits(query, answers), len(answers)) for query, answers in true.items()]
            columns = zip(*rows, strict=True)
            found |= {
                f"{benchmark}_{direction}_{name}": np.array(column) for name, column in zip(names, columns, strict=True)
            }
    return found


def numbers_of(captions: str, images: Iterable[int]) -> dict[str, dict[str, int]]:
    """MS-COCO's numbers of each direction's queries: `images` by image_id, CAPTIONS rows by caption_id."""
    rows = schema.read(captions, CAPTIONS, ["caption_id", "sentid"]).dropna()
    sentences = zip(rows["caption_id"], rows["sentid"].astype(int), strict=True)
    return {"i2t": {str(image): image for image in images}, "t2i": dict(sentences)}


def read_lists(
    retrieval: str, numbers: Mapping[str, Mapping[str, int]], known: Mapping[str, Collection[int]]
) -> dict[str, AnswerLists]:
    """The lists of a RETRIEVAL artifact, by direction.

    `numbers` comes from `numbers_of`, `known` are the queries of each direction. Raises `InputError` that names an
    image or sentence if the retrieval ranks others than these or leaves one out, or if its lists are too short.
    """
    rows = schema.read(retrieval, RETRIEVAL, ["direction", "query_id", "top", "top_scores"])
    asked = {direction: rows[rows["direction"] == direction] for direction in DIRECTIONS}
    for direction, queries in asked.items():
        _check_queries(
            retrieval,
            _KINDS[direction],
            {name: numbers[direction].get(name) for name in queries["query_id"]},
            known[direction],
        )
    listed = rows["top"].map(len)
    if listed.min() < LISTED:
        raise InputError(
            f"{retrieval}: it lists {listed.min()} candidates of a query, and {LISTED} are needed; set `top` of its "
            f"data set to {LISTED} and run snakemake again."
        )
    i2t, t2i = DIRECTIONS
    return {i2t: _lists(asked[i2t], numbers[i2t], numbers[t2i]), t2i: _lists(asked[t2i], numbers[t2i], numbers[i2t])}


def _check_queries(retrieval: str, kind: str, found: Mapping[str, int | None], known: Collection[int]) -> None:
    others = [name for name, number in found.items() if number not in known]
    missing = set(known).difference(found.values())
    if not others and not missing:
        return
    wrong = f"{others[0]!r} is none of them" if others else f"{min(missing)} is not ranked"
    raise InputError(
        f"{retrieval}: ECCV Caption and CxC are of {len(known):,} {kind} of MS-COCO, the test split of Karpathy's with "
        f"five sentences of each image, and {wrong} ({len(others):,} are others, {len(missing):,} are missing). "
        "Measure them on MS-COCO with all test images and `sentences: first_five`."
    )


def _lists(asked: pd.DataFrame, queries: Mapping[str, int], candidates: Mapping[str, int]) -> AnswerLists:
    found: Any = pd.Series(np.concatenate(asked["top"].to_numpy())).map(candidates).to_numpy(np.int64)
    rows = {queries[name]: row for row, name in enumerate(asked["query_id"])}
    return AnswerLists(rows, found.reshape(len(rows), -1), np.stack(list(asked["top_scores"])))
