"""A table of ECCV Caption and CxC, from RETRIEVAL artifacts of MS-COCO's test split.

The true answers are those of the package eccv_caption. ECCV Caption: Chun et al., ECCV Caption: Correcting False
Negatives by Collecting Machine-and-Human-verified Image-Caption Associations for MS-COCO, ECCV 2022. CxC: Parekh et
al., Crisscrossed Captions, EACL 2021. The metrics are those of `densevse.evaluation.relevance`. A tie is never a hit:
among candidates with equal scores the wrong ones come first.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.analyses.eccv_caption.plan import LISTED, ExtendedTruthPlan
from densevse.artifacts.families import read_families
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.metrics import DIRECTIONS, RECALLS
from densevse.evaluation.relevance import AnswerRanks, MeanBootstrap
from densevse.report.columns import METHOD, MetricColumn, variant_and_seeds
from densevse.report.footnotes import INTERVALS, adopted_notes
from densevse.report.rendering import Document, Sheet, range_cell
from densevse.report.results import Outputs, write_table
from densevse.report.sections import retrieval_paths
from densevse.runtime.arrays import Indices, Reals
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.statements import Statement, read_statement
from snakeproof.strict import validate

_TITLES = {"eccv": "ECCV", "cxc": "CxC"}
_HEADERS = {"map_at_r": "mAP@R", "rprecision": "R-P", "r1": "R@1", "r5": "R@5", "r10": "R@10"}
_Hits = NDArray[np.bool_]
_KINDS = {"i2t": "images", "t2i": "sentences"}
"""The queries of a direction; the candidates are those of the other direction."""

Answers: TypeAlias = Mapping[int, Sequence[int]]
"""The true answers of each query, by MS-COCO's ids: images by number, sentences by annotation."""


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

    def ranks(self, truth: Answers) -> AnswerRanks:
        """The ranks of the true answers of queries; infinite for those that are not in a list."""
        counts = [len(answers) for answers in truth.values()]
        ranks = np.full(sum(counts), np.inf)
        for (query, answers), first in zip(truth.items(), np.cumsum([0, *counts]), strict=False):
            found = np.flatnonzero(self.hits(query, answers)) + 1
            ranks[first : first + len(found)] = found
        return AnswerRanks(np.repeat(np.arange(len(counts)), counts), ranks, np.ones(len(ranks)))


BENCHMARKS = {"eccv": ("map_at_r", "rprecision", "r1", "r5", "r10"), "cxc": ("r1", "r5", "r10")}
"""The measures of each benchmark."""

_MEASURES = [
    MetricColumn(
        f"{benchmark}_{direction}_{name}",
        REAL,
        "benchmark, direction and measure, percent; the mean over seeds",
        header=_HEADERS[name],
        group=f"{_TITLES[benchmark]} {direction}",
    )
    for benchmark, names in BENCHMARKS.items()
    for direction in DIRECTIONS
    for name in names
]
MEASURE_COLUMNS = tuple(measure.name for measure in _MEASURES)

EXTENDED_TRUTH_RESULTS = Schema(
    "extended_truth_results",
    "a row of a table of ECCV Caption and CxC",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("variant", TEXT, "the variant, ensemble or given row in config/methods"),
        Column("seeds", NUMBER, "how many seeds"),
        *(column for one in _MEASURES for column in one.with_ends("the low end of its 95% interval", "the high end")),
    ),
)


class ExtendedTruth(NamedTuple):
    """True answers, by direction (i2t, t2i)."""

    own: Mapping[str, Answers]  # each of the 5,000 images and its five sentences
    benchmarks: Mapping[str, Mapping[str, Answers]]  # eccv and cxc


def read_truth() -> ExtendedTruth:
    """Reads the true answers from the installed package, which is an extra of the project's."""
    from eccv_caption import Metrics

    held = Metrics()
    return ExtendedTruth(held.coco_gts, {"eccv": held.eccv_gts, "cxc": held.cxc_gts})


def make_extended_truth_table(
    images: str, captions: str, retrievals: Sequence[str], plan: Mapping[str, Any], **outputs: str
) -> None:
    """The job that makes the table, from RETRIEVAL artifacts of each row and seed in any order.

    `plan` has the values of `ExtendedTruthPlan`, and `outputs` the names of `Outputs`. Raises `InputError` if an
    artifact of the plan is missing, or ranks other images or sentences than the benchmarks.
    """
    planned = validate(ExtendedTruthPlan, plan, "the plan of the table")
    truth, index = read_truth(), ArtifactIndex(retrievals, RETRIEVAL)
    numbers, section = query_numbers(captions, truth.own["i2t"]), planned.section
    found: dict[str, list[dict[str, Reals]]] = {}
    rests_on: list[tuple[str, list[Statement]]] = []
    for name in section.measured:
        paths = retrieval_paths(name, section, index)
        rests_on.append((name, [*map(read_statement, paths.values())]))
        found[name] = [measure(read_lists(path, numbers, truth.own), truth.benchmarks) for path in paths.values()]
    families = read_families(images)[[str(image) for image in truth.own["i2t"]]]
    bootstrap = MeanBootstrap(_family_numbers(truth, families))
    records = []
    for name, runs in found.items():
        row = {"method": section.measured[name].title, "variant": name, "seeds": len(runs)}
        records.append(row | bootstrap.means_and_intervals(runs))
    frame = pd.DataFrame(records, columns=[column.name for column in EXTENDED_TRUTH_RESULTS.columns])
    notes = [*_notes(truth), *adopted_notes(rests_on)]
    document = Document(f"{planned.title}: ECCV Caption and CxC", _sheets(frame, planned, truth), notes)
    write_table(frame, EXTENDED_TRUTH_RESULTS, document, Outputs(**outputs))


def _family_numbers(truth: ExtendedTruth, families: pd.Series) -> dict[str, Indices]:
    """The number, from 0, of the family of each query's image; `families` are by image_id."""
    family = pd.Series(pd.factorize(families)[0], index=families.index)
    image_of = {
        "i2t": {image: image for image in truth.own["i2t"]},
        "t2i": {s: i for s, (i,) in truth.own["t2i"].items()},
    }
    return {
        f"{benchmark}_{direction}_{name}": family[
            [str(image_of[direction][query]) for query in of[direction]]
        ].to_numpy()
        for benchmark, of in truth.benchmarks.items()
        for direction in DIRECTIONS
        for name in BENCHMARKS[benchmark]
    }


def _sheets(rows: pd.DataFrame, plan: ExtendedTruthPlan, truth: ExtendedTruth) -> list[Sheet]:
    images, sentences = (f"{len(truth.own[direction]):,}" for direction in DIRECTIONS)
    heading = f"{plan.title}: test split, {images} images, {sentences} sentences, every sentence against every image"
    metrics = (measure.printed() for measure in _MEASURES)
    intervals = (measure.printed(cell=range_cell(measure.name)) for measure in _MEASURES)
    last, records = variant_and_seeds(plan.section.measured), rows.to_dict("records")
    return [
        Sheet.from_rows(heading, (METHOD, *metrics, last), records),
        Sheet.from_rows("95% intervals of our metrics", (METHOD, *intervals, last), records),
    ]


def _notes(truth: ExtendedTruth) -> list[str]:
    counts = {name: [f"{len(of[direction]):,}" for direction in DIRECTIONS] for name, of in truth.benchmarks.items()}
    return [
        "ECCV Caption (Chun et al., ECCV 2022): {} images and {} sentences ask, with true answers that models proposed "
        "and people verified. R is the number of a query's true answers. R-P (R-Precision): the share of the first R "
        "candidates that are true. mAP@R: the mean over the first R places of the precision up to a place where that "
        "holds a true answer, else 0.".format(*counts["eccv"]),
        "CxC (Parekh et al., EACL 2021): {} images and {} sentences ask. R@K: the share of queries with a true answer "
        "among the first K candidates.".format(*counts["cxc"]),
        "In percent, means over seeds. A tie is never a hit: of candidates with one score the wrong ones come first.",
        INTERVALS,
        f"True answers: eccv_caption {version('eccv_caption')}.",
    ]


def measure(
    lists: Mapping[str, AnswerLists], benchmarks: Mapping[str, Mapping[str, Mapping[int, Sequence[int]]]]
) -> dict[str, Reals]:
    """Each measure of MEASURE_COLUMNS, (queries,) in the order of its benchmark's queries, from 0 to 1.

    `lists` are by direction; `benchmarks` have the true answers of each by direction and query.
    """
    found: dict[str, Reals] = {}
    for benchmark, names in BENCHMARKS.items():
        for direction in DIRECTIONS:
            values = lists[direction].ranks(benchmarks[benchmark][direction]).metrics(RECALLS)
            found |= {f"{benchmark}_{direction}_{name}": values[name] for name in names}
    return found


def query_numbers(captions: str, images: Iterable[int]) -> dict[str, dict[str, int]]:
    """MS-COCO's numbers of each direction's queries: `images` by image_id, CAPTIONS rows by caption_id."""
    rows = schema.read(captions, CAPTIONS, ["caption_id", "sentid"]).dropna()
    sentences = zip(rows["caption_id"], rows["sentid"].astype(int), strict=True)
    return {"i2t": {str(image): image for image in images}, "t2i": dict(sentences)}


def read_lists(
    retrieval: str, numbers: Mapping[str, Mapping[str, int]], known: Mapping[str, Collection[int]]
) -> dict[str, AnswerLists]:
    """The lists of a RETRIEVAL artifact, by direction.

    `numbers` comes from `query_numbers`, `known` are the queries of each direction. Raises `InputError` that names an
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
