"""Sections of tables, from their artifacts: the test set of a data set under a protocol, and its rows.

Rows are Random, the published ones, and ours with their intervals and differences.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from densevse.artifacts.families import read_families
from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.bootstrap import expected_metrics, retrieval_bootstrap
from densevse.evaluation.metrics import DIRECTIONS, METRIC_COLUMNS, RECALL_COLUMNS
from densevse.evaluation.protocols import NAMED, Fold, TestSet, folds, full, join_folds, select_split
from densevse.report.plan import Difference, SectionPlan
from densevse.report.published import Paper, PublishedRow
from densevse.report.rendering import count_range, named_seeds
from densevse.statistics.bootstrap import Interval
from densevse.statistics.intervals import Intervals, Replicates
from snakeproof import schema
from snakeproof.statements import Statement, read_statement


@dataclass(frozen=True)
class Row:
    """A row: its method, its metrics and, if measured, their intervals."""

    method: str  # as printed
    kind: str  # random, published or measured
    source: str  # paper and table, or variant and seeds
    variant: str  # in config/methods; empty without one
    metrics: Mapping[str, float]
    printed: Mapping[str, str] = field(default_factory=dict)  # of a published row: metrics as printed
    note: str = ""
    seeds: int = 0
    rsum_spread: float | None = None  # standard deviation of rsum over seeds
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    difference: float | None = None  # of a published row: ours minus it, over the recalls that it prints
    reference: str | None = None  # the title of the row with which a measured row is compared
    gain: float | None = None  # of a measured row: its rsum minus the reference's
    gain_interval: Interval | None = None


@dataclass(frozen=True)
class Measured:
    """A variant's measurements: its title as printed, and a RETRIEVAL artifact for each seed."""

    variant: str
    title: str
    retrievals: Mapping[int, pd.DataFrame]


def random_row(test_set: TestSet, folds: list[Fold]) -> Row:
    """The expected metrics of a random ranking of these images and sentences."""
    source = "expected, by formula, on these images and sentences"
    return Row("Random", "random", source, "random", expected_metrics(test_set, folds))


def published_row(row: PublishedRow, source: str, own: Row | None) -> Row:
    """A published row, with its difference from `own`, our row of the same method, if both are comparable."""
    found = difference(own.metrics, row.metrics) if own else None
    return Row(row.method, "published", source, row.variant, row.metrics, row.printed, row.note, difference=found)


def measured_rows(
    measured: Sequence[Measured], test_set: TestSet, folds: list[Fold], references: Mapping[str, str]
) -> list[Row]:
    """Our rows: metrics are means over seeds, with intervals.

    `references` names the variant on which each has its paired gain.
    """
    if not measured:
        return []
    queries, groups = list_queries(test_set, folds)
    bootstrap = retrieval_bootstrap(queries, groups)
    found = {one.variant: bootstrap.replicates(list(one.retrievals.values())) for one in measured}
    by_name = {one.variant: one for one in measured}
    return [_measured_row(one, by_name.get(references.get(one.variant, "")), found, bootstrap) for one in measured]


def list_queries(test_set: TestSet, folds: list[Fold]) -> tuple[pd.DataFrame, list[str]]:
    """The queries of RETRIEVAL artifacts in order (fold, direction, query_id), and each one's family."""
    parts = []
    for number, fold in enumerate(folds):
        image_of_caption = test_set.image_of_caption[fold.captions]
        asking = fold.images[pd.Series(fold.images).isin(image_of_caption)]
        ids = (test_set.image_ids[asking], test_set.caption_ids[fold.captions])
        for direction, names, images in zip(DIRECTIONS, ids, (asking, image_of_caption), strict=True):
            rows = {"direction": direction, "query_id": names, "family": test_set.family_of_image[images]}
            parts.append(pd.DataFrame(rows).assign(fold=number))
    queries = pd.concat(parts, ignore_index=True)
    return queries.drop(columns="family"), queries["family"].tolist()


def difference(own: Mapping[str, float], theirs: Mapping[str, float]) -> float | None:
    """Ours minus theirs, summed over the recalls that they print."""
    printed = [key for key in RECALL_COLUMNS if key in theirs]
    return sum(own[key] - theirs[key] for key in printed) if printed else None


def as_record(row: Row) -> dict[str, Any]:
    """A row of a RESULTS artifact, without the columns that name its section."""
    intervals = {
        f"{key}_{end}": getattr(row.intervals.get(key), end, None) for key in METRIC_COLUMNS for end in ("low", "high")
    }
    gains = {f"gain_{end}": getattr(row.gain_interval, end, None) for end in ("low", "high")}
    plain = ("method", "kind", "source", "variant", "note", "seeds", "rsum_spread", "difference", "gain")
    metrics = {key: row.metrics.get(key) for key in METRIC_COLUMNS}
    return {**{name: getattr(row, name) for name in plain}, **metrics, **intervals, **gains}


def _measured_row(
    one: Measured, reference: Measured | None, found: Mapping[str, Replicates], bootstrap: Intervals
) -> Row:
    own = found[one.variant]
    metrics = {str(key): float(value) for key, value in own.by_seed.mean().items()}
    other = found[reference.variant] if reference and reference is not one else None
    return Row(
        one.title,
        "measured",
        f"{one.variant}, {named_seeds(one.retrievals)}",
        one.variant,
        metrics,
        seeds=len(one.retrievals),
        rsum_spread=float(own.by_seed["rsum"].std(ddof=1)) if len(own.by_seed) > 1 else None,
        intervals={key: bootstrap.interval(key, own) for key in metrics},
        reference=reference.title if reference and other else None,
        gain=metrics["rsum"] - float(other.by_seed["rsum"].mean()) if other else None,
        gain_interval=bootstrap.difference("rsum", own, other) if other else None,
    )


NAMELESS = np.array([], dtype=object)
_NOTHING = TestSet(NAMELESS, NAMELESS, np.array([], dtype=np.int64), NAMELESS)
SAME_SIZE = 0.01
"""Two test sets have the same size if their numbers of images differ by less than this share."""

_PROTOCOLS = {
    "full": "every sentence against every image",
    "five_folds": "metrics are the mean of five folds of {fold} images",
    "first_1000": "the first {fold} images",
    "random_1000": "{fold} images drawn at random",
    "hodosh": "only the first sentence of each image",
    "regions": "every phrase against every region",
}


@dataclass(frozen=True)
class MeasuredSection:
    """A data set under a protocol, from its plan and its artifacts."""

    plan: SectionPlan
    images: pd.DataFrame | None  # IMAGES rows; None for regions, and without data
    test_set: TestSet
    folds: list[Fold]
    measured: list[Measured]
    statements: Mapping[str, list[Statement]]  # by variant, that of each RETRIEVAL artifact
    empty: int = 0  # sentences of the data set without a word

    @property
    def fold_size(self) -> int:
        """The number of images (or regions) that are ranked against each other."""
        return len(self.folds[0].images) if self.folds else 0

    def is_comparable(self, row: PublishedRow) -> bool:
        """True if ours is comparable with a published row: same data set, protocol, test size and networks."""
        same_place = (row.dataset, row.protocol) == (self.plan.dataset, self.plan.protocol)
        return same_place and self.has_same_size(row) and not self.replaced_settings(row)

    def has_same_size(self, row: PublishedRow) -> bool:
        """True if as many images are ranked as for a published row."""
        return abs(self.fold_size - row.images) < SAME_SIZE * row.images

    def replaced_settings(self, row: PublishedRow) -> Mapping[str, Difference]:
        """The networks and options of ours that differ from the packaged ones, by path.

        Chance (Random) depends on the ranked images, not on networks.
        """
        if row.variant in self.plan.measured:
            return self.plan.measured[row.variant].replaced
        of_all = [item for one in self.plan.measured.values() for item in one.replaced.items()]
        return {path: both for path, both in of_all if not path.startswith("networks.")}

    def heading(self) -> str:
        """Data set, split, numbers of ranked images and sentences, and the protocol."""
        if not self.folds:
            return f"{self.plan.title}: published metrics; nothing is measured here yet"
        ranked = join_folds(self.folds)
        images, sentences = len(ranked.images), len(ranked.captions)
        asked, answers = ("regions", "phrases") if self.plan.protocol == "regions" else ("images", "sentences")
        sizes = [len(fold.images) for fold in self.folds]
        protocol = _PROTOCOLS[self.plan.protocol].format(fold=count_range(sizes))
        if self.plan.protocol in ("first_1000", "random_1000") and min(sizes) < NAMED:
            protocol = f"all of them, as there are fewer than the {NAMED:,} images that the protocol names"
        return f"{self.plan.title}: test split, {images:,} {asked}, {sentences:,} {answers}, {protocol}"

    def rows(self, published: Sequence[PublishedRow], papers: Mapping[str, Paper], reference: str | None) -> list[Row]:
        """Random, the published rows, ours."""
        chance = [random_row(self.test_set, self.folds)] if self.folds else []
        references = {one.variant: reference for one in self.measured if reference}
        ours = measured_rows(self.measured, self.test_set, self.folds, references)
        by_variant = {row.variant: row for row in (*chance, *ours)}
        theirs = [
            published_row(row, source(row, papers), by_variant.get(row.variant) if self.is_comparable(row) else None)
            for row in published
        ]
        return [*chance, *theirs, *ours]


class SectionArtifacts(NamedTuple):
    """The files from which sections are read."""

    images: ArtifactIndex  # IMAGES of each measured data set
    captions: ArtifactIndex  # CAPTIONS of each measured data set, except for regions
    retrievals: ArtifactIndex  # RETRIEVAL of each measured variant and seed

    @classmethod
    def from_paths(
        cls, images: Iterable[str], captions: Iterable[str], retrievals: Iterable[str]
    ) -> "SectionArtifacts":
        """Those of these paths, in any order."""
        return cls(
            ArtifactIndex(images, IMAGES), ArtifactIndex(captions, CAPTIONS), ArtifactIndex(retrievals, RETRIEVAL)
        )


def read_section(plan: SectionPlan, artifacts: SectionArtifacts) -> MeasuredSection:
    """Reads a section. A section without measurements has no test set, as published rows need no data.

    Raises `InputError` if an artifact is missing.
    """
    measured, statements = list[Measured](), dict[str, list[Statement]]()
    for name, entry in plan.measured.items():
        paths = retrieval_paths(name, plan, artifacts.retrievals)
        runs = {seed: schema.read(path, RETRIEVAL) for seed, path in paths.items()}
        measured.append(Measured(name, entry.title, runs))
        statements[name] = [read_statement(path) for path in paths.values()]
    if not measured:
        return MeasuredSection(plan, None, _NOTHING, [], [], {})
    images = artifacts.images.path(Identity(plan.dataset))
    if plan.protocol == "regions":
        test_set = _region_test_set(measured[0], statements[measured[0].variant][0], read_families(images))
        return MeasuredSection(plan, None, test_set, full(test_set), measured, statements)
    image_table = schema.read(images, IMAGES)
    captions = schema.read(artifacts.captions.path(Identity(plan.dataset)), CAPTIONS)
    test_set = select_split(image_table, captions, sentences=plan.sentences)
    empty = int((captions["text"] == "").sum())
    return MeasuredSection(plan, image_table, test_set, folds(test_set, plan.protocol), measured, statements, empty)


def retrieval_paths(name: str, plan: SectionPlan, retrievals: ArtifactIndex) -> dict[int, str]:
    """The RETRIEVAL artifact of each seed of a section's row. Raises `InputError` if one is missing."""
    entry = plan.measured[name]
    return {seed: retrievals.path(entry.identity(plan.dataset, plan.protocol, seed)) for seed in entry.seeds}


def source(row: PublishedRow, papers: Mapping[str, Paper]) -> str:
    """The source of a published row: its paper and table, and its protocol if that is the starred one."""
    if row.table == "code":
        return f"{papers[row.paper].name}, public code"
    starred = " (hodosh)" if row.protocol == "hodosh" else ""
    return f"{papers[row.paper].name}, Table {row.table}{starred}"


def _region_test_set(measured: Measured, statement: Statement, families: pd.Series) -> TestSet:
    """The regions and phrases of a ranking, whose statement has the number of phrases of each region.

    Intervals draw over `families`, given by image.
    """
    rows = next(iter(measured.retrievals.values()))
    counts = np.array(statement.found["phrases_of_regions"], np.int64)
    regions, phrases = (rows.loc[rows["direction"] == name, "query_id"].to_numpy(object) for name in DIRECTIONS)
    images = [str(name).rpartition("/")[0] for name in regions]
    return TestSet(regions, phrases, np.repeat(np.arange(len(counts)), counts), families[images].to_numpy(object))
