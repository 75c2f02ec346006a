"""Boxes that may hold an object in the plan, and their recall of true boxes."""

from collections.abc import Iterable
from typing import Any

from densevse.config.config import Config
from densevse.config.environment import check_extra
from densevse.config.strict import DatasetName
from densevse.dag.datasets import DatasetStage
from densevse.dag.fields import CONTOURS_OF_MCG, FOREST_OF_MCG, PROPOSALS_OF_MCG, whole
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.project import Stage


def proposers_of(config: Config, *kinds: str, **options: bool) -> list[str]:
    """The proposers of these kinds; of those, the ones with (or without) the named options."""
    return [
        name
        for name, entry in config.proposers.items()
        if entry.kind in kinds and all(bool(getattr(entry.options, one)) is wanted for one, wanted in options.items())
    ]


class ProposalStage(Stage):
    """The proposers, their jobs, and the user's files that they read."""

    def job(self, dataset: DatasetName, proposer: str) -> Job:
        """The boxes of a proposer of any kind but MCG and clusters."""
        entry = self.config.proposers[proposer]
        names = DatasetStage(self.project).source_names(dataset)
        return Job({"proposer": {"kind": entry.kind, "options": whole(entry.options)}, "source_names": names})

    def clusters_job(self, proposer: str) -> Job:
        """The choice among another proposer's boxes."""
        return Job({"options": whole(self.config.proposers[proposer].options)})

    def contours_job(self, dataset: DatasetName, proposer: str) -> Job:
        """The contours of a data set's images, by a proposer's detector."""
        options = mcg_options(self.config, proposer, CONTOURS_OF_MCG)
        names = DatasetStage(self.project).source_names(dataset)
        return Job({"options": options, "source_names": names, "threads": self.threads(dataset)})

    def contour_model(self, proposer: str) -> str | Values:
        """The file of the contour detector: the user's model of structured edges, or HED's weights."""
        return whole(self.config.proposers[proposer].options)["structured_edges"] or {}

    def ranker_from_masks_job(self, proposer: str) -> Job:
        """The ranker that learns from masks."""
        options = mcg_options(self.config, proposer, FOREST_OF_MCG)
        return Job({"options": options, "masks": whole(self.config.proposers[proposer].options)["masks"]})

    def samples(self, proposer: str) -> list[Values]:
        """The candidates from which a ranker learns by masks: those of the first shards of a data set."""
        masks = whole(self.config.proposers[proposer].options)["masks"]
        return self.shards(masks["dataset"], dataset=masks["dataset"])[: masks["shards"]]

    def mcg_job(self, proposer: str) -> Job:
        """MCG's proposals, as boxes or as segments."""
        return Job({"options": mcg_options(self.config, proposer, PROPOSALS_OF_MCG)})


def mcg_options(config: Config, proposer: str, names: Iterable[str]) -> dict[str, Any]:
    """Some options of a proposer by MCG. Raises `InputError`, before any job runs, if higra is not installed."""
    check_extra("higra", extra="mcg", needs=f"proposers.{proposer}: MCG")
    options = config.proposers[proposer].options
    return {name: getattr(options, name) for name in names}
