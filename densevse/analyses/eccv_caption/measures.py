"""Measures of ECCV Caption and CxC, from the lists of a retrieval and the true answers of its queries.

mAP@R, R-Precision and R@1 are those of Chun et al., ECCV 2022 (mAP@R is from Musgrave et al., A Metric Learning
Reality Check, ECCV 2020); the recalls at K of CxC are those of Parekh et al., EACL 2021. A tie is never a hit: among
candidates with equal scores the wrong ones come first.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from densevse.evaluation.metrics import DIRECTIONS, RECALLS
from densevse.runtime.arrays import Indices, Reals

_Hits = NDArray[np.bool_]


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
