"""A section of a table, read from its artifacts: the test set of a data set under a protocol, and its rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.protocols import Fold, TestSet, folds, full, select_split
from densevse.tables.accuracy import families_of
from densevse.tables.provenance import check_provenance
from densevse.tables.published import DIRECTIONS, Paper, PublishedRow
from densevse.tables.rows import Measured, Row, measured_rows, published_row, random_row

NAMELESS = np.array([], dtype=object)
NOTHING = TestSet(NAMELESS, NAMELESS, np.array([], dtype=np.int64), NAMELESS)
SAME_SIZE = 0.01
"""Two test sets are of one size if their numbers of images differ by less than this share."""

PROTOCOLS = {
    "full": "every sentence against every image",
    "five_folds": "figures are the mean of five folds of {fold} images",
    "first_1000": "the first {fold} images",
    "random_1000": "{fold} images drawn at random",
    "hodosh": "only the first sentence of each image",
    "regions": "every phrase against every region",
}


@dataclass(frozen=True)
class Section:
    """A data set under a protocol.

    `settings` holds title, dataset, protocol, published (the data set's name in config/published) and measured: of each
    variant title, seeds and what it was made with.
    """

    settings: Mapping[str, Any]
    images: pd.DataFrame | None  # IMAGES rows; None for regions, and where no data are at hand
    test_set: TestSet
    folds: list[Fold]
    measured: list[Measured]
    made_from: Sequence[Mapping[str, Any]]  # of every RETRIEVAL artifact

    @property
    def fold_size(self) -> int:
        """How many images (or regions) are ranked against each other."""
        return len(self.folds[0].images) if self.folds else 0

    def alike(self, row: PublishedRow) -> bool:
        """Whether ours may be compared with a published row: the same data set, protocol, test size and networks."""
        same_place = (row.dataset, row.protocol) == (self.settings["dataset"], self.settings["protocol"])
        return same_place and self.same_size(row) and not self.replaced(row)

    def same_size(self, row: PublishedRow) -> bool:
        """Whether as many images are ranked as in a published row."""
        return abs(self.fold_size - row.images) < SAME_SIZE * row.images

    def replaced(self, row: PublishedRow) -> Mapping[str, Any]:
        """What ours beside a published row is given instead of the packaged networks and options: path -> both.

        Chance (Random) depends on which images are ranked, and not on networks.
        """
        measured: Mapping[str, Any] = self.settings["measured"]
        if row.variant in measured:
            found: Mapping[str, Any] = measured[row.variant].get("replaced", {})
            return found
        of_all = [item for entry in measured.values() for item in entry.get("replaced", {}).items()]
        return {path: both for path, both in of_all if not path.startswith("networks.")}

    def heading(self) -> str:
        """Data set, split, how much of it is ranked, and the protocol."""
        if not self.folds:
            return f"{self.settings['title']}: published figures; nothing is measured here yet"
        images = len(np.unique(np.concatenate([fold.images for fold in self.folds])))
        sentences = len(np.unique(np.concatenate([fold.captions for fold in self.folds])))
        asked, answers = ("regions", "phrases") if self.settings["protocol"] == "regions" else ("images", "sentences")
        protocol = PROTOCOLS[self.settings["protocol"]].format(fold=f"{self.fold_size:,}")
        return f"{self.settings['title']}: test split, {images:,} {asked}, {sentences:,} {answers}, {protocol}"

    def rows(self, published: Sequence[PublishedRow], papers: Mapping[str, Paper], reference: str | None) -> list[Row]:
        """Random, the published rows, ours."""
        chance = [random_row(self.test_set, self.folds)] if self.folds else []
        references = {one.variant: reference for one in self.measured if reference}
        ours = measured_rows(self.measured, self.test_set, self.folds, references)
        by_variant = {row.variant: row for row in (*chance, *ours)}
        theirs = [
            published_row(row, source(row, papers), by_variant.get(row.variant) if self.alike(row) else None)
            for row in published
        ]
        return [*chance, *theirs, *ours]


class Artifacts(NamedTuple):
    """Paths of artifacts in the order of sections; each section takes its own."""

    images: Iterator[str]  # IMAGES, one for each section that measures something
    captions: Iterator[str]  # CAPTIONS, one for each section that measures images
    retrievals: Iterator[str]  # RETRIEVAL, by section, then variant, then seed


def read_section(settings: Mapping[str, Any], entries: Mapping[str, Any], artifacts: Artifacts) -> Section:
    """Read a section. One that measures nothing has no test set either: published rows need no data.

    Raises `InputError` if an artifact was not made with what `settings` and `entries` say (see `check_provenance`).
    """
    measured, made_from = [], []
    for name, entry in settings["measured"].items():
        paths = {seed: next(artifacts.retrievals) for seed in entry["seeds"]}
        runs = {seed: schema.read(path, RETRIEVAL) for seed, path in paths.items()}
        measured.append(Measured(name, entry["title"], runs))
        for path in paths.values():
            made_from.append(schema.check(path, RETRIEVAL))
            check_provenance(path, made_from[-1], entry, entries)
    if not measured:
        return Section(settings, None, NOTHING, [], [], [])
    images = next(artifacts.images)
    if settings["protocol"] == "regions":
        test_set = _regions(measured, made_from, families_of(images))
        return Section(settings, None, test_set, full(test_set), measured, made_from)
    image_table = schema.read(images, IMAGES)
    test_set = select_split(image_table, schema.read(next(artifacts.captions), CAPTIONS))
    return Section(settings, image_table, test_set, folds(test_set, settings["protocol"]), measured, made_from)


def source(row: PublishedRow, papers: Mapping[str, Paper]) -> str:
    """Where a published row stands: its paper and table, and its protocol where it is the starred one."""
    if row.table == "code":
        return f"{papers[row.paper].name}, public code"
    starred = " (hodosh)" if row.protocol == "hodosh" else ""
    return f"{papers[row.paper].name}, Table {row.table}{starred}"


def _regions(measured: Sequence[Measured], made_from: Sequence[Mapping[str, Any]], families: pd.Series) -> TestSet:
    """The regions and phrases of a ranking, which says how many phrases each region has.

    `families`, by image, are what intervals are drawn over.
    """
    rows = next(iter(measured[0].retrievals.values()))
    counts = np.array(made_from[0]["phrases_of_regions"], np.int64)
    regions, phrases = (rows.loc[rows["direction"] == name, "query_id"].to_numpy(object) for name in DIRECTIONS)
    images = [str(name).rpartition("/")[0] for name in regions]
    return TestSet(regions, phrases, np.repeat(np.arange(len(counts)), counts), families[images].to_numpy(object))
