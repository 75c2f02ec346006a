"""Boxes that may hold an object, and how well they cover true boxes."""

from typing import Any

from densevse.plan.project import Stage, Wildcards, any_of


class Proposals(Stage):
    """What computes or reads proposals, and where they are."""

    def of_kind(self, *kinds: str) -> str:
        """The proposers of these kinds."""
        return any_of(name for name, proposer in self.config.proposers.items() if proposer.kind in kinds)

    def sample(self, wildcards: Wildcards) -> str:
        """The candidates that a proposer's ranker is learned from."""
        proposer = self.config.proposers[wildcards.proposer]
        return self.obtained(wildcards.proposer, proposer.source, proposer.local)

    def contour_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides contour maps."""
        return self._options(wildcards, "scales", "pixels", "half_precision")

    def ranker_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides the ranker."""
        return self._options(wildcards, "trees", "leaf")

    def candidate_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides which candidates there are, and how many are kept."""
        return self._options(wildcards, "superpixels", "candidates", "boxes")

    def _options(self, wildcards: Wildcards, *names: str) -> dict[str, Any]:
        options = self.config.proposers[wildcards.proposer].options
        return {name: getattr(options, name) for name in names}

    def proposer(self, wildcards: Wildcards) -> dict[str, Any]:
        """A proposer's kind and options."""
        return self.read_by("propose.py", self.config.proposers[wildcards.proposer])

    def clusters(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides which boxes of another proposer stay."""
        return self.config.proposers[wildcards.proposer].options.model_dump(mode="json")

    def to_cluster(self, wildcards: Wildcards) -> str:
        """The shard of the other proposer's boxes."""
        of = self.clusters(wildcards)["of"]
        return f"{self.results}/{wildcards.dataset}/proposals/{of}/{wildcards.shard}.parquet"

    def files_of_user(self, wildcards: Wildcards) -> list[str]:
        """The file or folder of the user's that a proposer reads; selective search reads none."""
        return self.config.proposers[wildcards.proposer].files()

    def files(self, wildcards: Wildcards) -> list[str]:
        """All shards of a proposer's proposals."""
        return self.shards(f"{self.results}/{wildcards.dataset}/proposals/{wildcards.proposer}", wildcards.dataset)

    def compared(self, wildcards: Wildcards) -> list[str]:
        """The data set's proposer and those that its table sets beside it."""
        dataset = self.dataset(wildcards)
        return list(dict.fromkeys([dataset.proposer, *dataset.proposers_compared]))

    def recalls(self, wildcards: Wildcards) -> list[str]:
        """How well each compared proposer covers the true boxes."""
        folder = f"{self.results}/{wildcards.dataset}/proposals"
        return [f"{folder}/{proposer}_recall.parquet" for proposer in self.compared(wildcards)]
