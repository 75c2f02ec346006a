"""Boxes that may hold an object, and how well they cover true boxes."""

from typing import Any

from densevse.dag.project import Stage, Wildcards, any_of
from densevse.runtime.errors import InputError

PROCESSES = 8


class Proposals(Stage):
    """What computes or reads proposals, and where they are."""

    def of_kind(self, *kinds: str) -> str:
        """The proposers of these kinds."""
        return any_of(name for name, proposer in self.config.proposers.items() if proposer.kind in kinds)

    def processes(self, wildcards: Wildcards) -> int:
        """In how many processes boxes are found: `PROCESSES`, or as many as the data set has threads for its jobs."""
        return self.dataset(wildcards).threads or PROCESSES

    def sample(self, wildcards: Wildcards) -> str:
        """The candidates that a proposer's ranker is learned from."""
        proposer = self.config.proposers[wildcards.proposer]
        return self.obtained(wildcards.proposer, proposer.source, proposer.local)

    def contour_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides contour maps."""
        return self._options(wildcards, "detector", "scales", "pixels", "half_precision")

    def boundaries(self, _: Wildcards) -> str:
        """The folder of photographs with the boundaries that people drew. Raises `InputError` if none is named."""
        if not self.config.boundaries:
            raise InputError("boundaries: name a folder in the layout of BSDS500 to hold contours against.")
        return self.config.boundaries

    def superpixels(self, wildcards: Wildcards) -> int:
        """The most superpixels of an image."""
        found: int = self._options(wildcards, "superpixels")["superpixels"]
        return found

    def contour_model(self, wildcards: Wildcards) -> str:
        """The file of what finds contours: HED's weights, or the user's model of structured edges."""
        return self._mcg()[wildcards.proposer].options.structured_edges or f"{self.resources}/hed/hed.safetensors"

    def by_detector(self) -> str:
        """The proposers whose contours are found here."""
        return any_of(self._detecting())

    def _detecting(self) -> list[str]:
        return [name for name, proposer in self._mcg().items() if not proposer.options.maps]

    def with_own_maps(self) -> str:
        """The proposers whose contour maps are the user's."""
        return any_of(name for name, proposer in self._mcg().items() if proposer.options.maps)

    def own_maps(self, wildcards: Wildcards) -> str:
        """The user's folder of contour maps."""
        found: str = self._mcg()[wildcards.proposer].options.maps
        return found

    def own_map_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides which of the user's maps are read, and their size."""
        return self._options(wildcards, "scales", "pixels")

    def ranker_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides the ranker."""
        return self._options(wildcards, "trees", "leaf")

    def from_authors(self) -> str:
        """The proposers whose ranker is learned from the authors' sample."""
        return any_of(name for name, proposer in self._mcg().items() if not proposer.options.masks)

    def from_masks(self) -> str:
        """The proposers whose ranker is learned from masks."""
        return any_of(name for name, proposer in self._mcg().items() if proposer.options.masks)

    def _mcg(self) -> dict[str, Any]:
        return {name: proposer for name, proposer in self.config.proposers.items() if proposer.kind == "mcg"}

    def samples(self, wildcards: Wildcards) -> list[str]:
        """The candidates that a ranker is learned from by masks: those of the first shards of a data set."""
        masks = self.masks(wildcards)
        folder = f"{self.results}/{masks['dataset']}/candidates/{wildcards.proposer}"
        return self.shards(folder, masks["dataset"])[: masks["shards"]]

    def masks(self, wildcards: Wildcards) -> dict[str, Any]:
        """Which masks a ranker is learned from."""
        found: dict[str, Any] = self._mcg()[wildcards.proposer].options.masks.model_dump(mode="json")
        return found

    def sample_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides which candidates there are."""
        return self._options(wildcards, "superpixels", "candidates")

    def candidate_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides which candidates there are, and how many are kept."""
        return self._options(wildcards, "superpixels", "candidates", "boxes")

    def all_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides contour maps and candidates."""
        return self.contour_options(wildcards) | self.candidate_options(wildcards)

    def search_options(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides what selective search finds."""
        return self._options(wildcards, "mode", "height", "minimum_side", "boxes")

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

    def segment_overlap(self, wildcards: Wildcards) -> list[str]:
        """How well segments cover objects, where a proposer gives segments and the data set has masks."""
        if wildcards.proposer not in self._mcg() or not self.dataset(wildcards).has_masks:
            return []
        return self.shards(
            f"{self.results}/{wildcards.dataset}/segment_overlap/{wildcards.proposer}", wildcards.dataset
        )

    def timed(self, wildcards: Wildcards) -> list[str]:
        """The compared proposers that compute all that their boxes come from."""
        searches = [name for name, proposer in self.config.proposers.items() if proposer.kind == "selective_search"]
        return [name for name in self.compared(wildcards) if name in [*searches, *self._detecting()]]

    def times(self, wildcards: Wildcards) -> list[str]:
        """How long each of them takes."""
        folder = f"{self.results}/{wildcards.dataset}/proposals"
        return [f"{folder}/{proposer}_times.parquet" for proposer in self.timed(wildcards)]

    def published(self, wildcards: Wildcards) -> list[str]:
        """What was published of proposers on a data set: figures, and what they were measured on; or nothing."""
        files = [f"config/published/proposals/{wildcards.dataset}.{kind}" for kind in ("csv", "yaml")]
        return [self.project.packaged(file) for file in files if (self.project.root / file).is_file()]
