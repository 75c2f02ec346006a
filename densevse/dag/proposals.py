"""Boxes that may hold an object in the plan, and their recall of true boxes."""

from typing import Any

from densevse.config.environment import check_extra
from densevse.dag.paths import Values
from densevse.dag.project import Stage, any_of

PROCESSES = 8


class ProposalStage(Stage):
    """The proposers, their options, and the user's files that they read."""

    def of_kind(self, *kinds: str) -> str:
        """The proposers of these kinds."""
        return any_of(name for name, proposer in self.config.proposers.items() if proposer.kind in kinds)

    def processes(self, dataset: str) -> int:
        """The number of processes that find boxes: `PROCESSES`, or the threads that the data set sets for its jobs."""
        return self.dataset(dataset).threads or PROCESSES

    def sample(self, proposer: str) -> str | Values:
        """The sample from which a ranker learns: the user's file, or its name below resources/<proposer>/."""
        entry = self.config.proposers[proposer]
        return entry.local or {"file": entry.source.file if entry.source else ""}

    def contour_options(self, proposer: str) -> dict[str, Any]:
        """The options that decide contour maps."""
        return self._options_of_mcg(proposer, "detector", "scales", "pixels", "half_precision")

    def superpixels(self, proposer: str) -> int:
        """The most superpixels of an image."""
        found: int = self._options_of_mcg(proposer, "superpixels")["superpixels"]
        return found

    def contour_model(self, proposer: str) -> str | Values:
        """The file of the contour detector: the user's model of structured edges, or HED's weights."""
        return self._mcg()[proposer].options.structured_edges or {}

    def by_detector(self) -> str:
        """The proposers whose contours are computed here."""
        return any_of(self.detecting())

    def detecting(self) -> list[str]:
        """The names of these proposers."""
        return [name for name, proposer in self._mcg().items() if not proposer.options.maps]

    def with_own_maps(self) -> str:
        """The proposers whose contour maps the user gives."""
        return any_of(name for name, proposer in self._mcg().items() if proposer.options.maps)

    def own_maps(self, proposer: str) -> str:
        """The user's folder of contour maps."""
        found: str = self._mcg()[proposer].options.maps
        return found

    def own_map_options(self, proposer: str) -> dict[str, Any]:
        """The options that decide the use of the user's maps: scales and size."""
        return self._options_of_mcg(proposer, "scales", "pixels")

    def ranker_options(self, proposer: str) -> dict[str, Any]:
        """The options that decide the ranker."""
        return self._options_of_mcg(proposer, "trees", "leaf")

    def from_authors(self) -> str:
        """The proposers whose ranker learns from the authors' sample."""
        return any_of(name for name, proposer in self._mcg().items() if not proposer.options.masks)

    def from_masks(self) -> str:
        """The proposers whose ranker learns from masks."""
        return any_of(name for name, proposer in self._mcg().items() if proposer.options.masks)

    def _mcg(self) -> dict[str, Any]:
        return {name: proposer for name, proposer in self.config.proposers.items() if proposer.kind == "mcg"}

    def samples(self, proposer: str) -> list[Values]:
        """The candidates from which a ranker learns by masks: those of the first shards of a data set."""
        masks = self.masks(proposer)
        return self.shards(masks["dataset"], dataset=masks["dataset"])[: masks["shards"]]

    def masks(self, proposer: str) -> dict[str, Any]:
        """The masks from which a ranker learns."""
        found: dict[str, Any] = self._mcg()[proposer].options.masks.model_dump(mode="json")
        return found

    def sample_options(self, proposer: str) -> dict[str, Any]:
        """The options that decide the candidates."""
        return self._options_of_mcg(proposer, "superpixels", "candidates")

    def candidate_options(self, proposer: str) -> dict[str, Any]:
        """The options that decide the candidates, and how many are kept."""
        return self._options_of_mcg(proposer, "superpixels", "candidates", "boxes")

    def all_options(self, proposer: str) -> dict[str, Any]:
        """The options that decide contour maps and candidates."""
        return self.contour_options(proposer) | self.candidate_options(proposer)

    def search_options(self, proposer: str) -> dict[str, Any]:
        """The options that decide the boxes of selective search."""
        return self._options(proposer, "mode", "height", "minimum_side", "boxes")

    def _options_of_mcg(self, proposer: str, *names: str) -> dict[str, Any]:
        """Some of the options of MCG. Raises `InputError`, before any job runs, if higra is not installed."""
        check_extra("higra", extra="mcg", needs=f"proposers.{proposer}: MCG")
        return self._options(proposer, *names)

    def _options(self, proposer: str, *names: str) -> dict[str, Any]:
        options = self.config.proposers[proposer].options
        return {name: getattr(options, name) for name in names}

    def proposer(self, proposer: str) -> dict[str, Any]:
        """A proposer's kind and options."""
        return self.read_by("propose.py", self.config.proposers[proposer])

    def clusters(self, proposer: str) -> dict[str, Any]:
        """The options that decide which boxes of another proposer are kept."""
        return self.config.proposers[proposer].options.model_dump(mode="json")

    def clustered(self, proposer: str) -> Values:
        """The proposer whose boxes are clustered."""
        return {"proposer": self.clusters(proposer)["of"]}

    def files_of_user(self, proposer: str) -> list[str]:
        """The user's files and folders that a proposer reads; none for selective search."""
        return self.config.proposers[proposer].files()
