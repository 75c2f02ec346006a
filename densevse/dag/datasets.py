"""From downloads to image tables, caption tables and true boxes."""

import mimetypes
import os
from pathlib import Path
from typing import Any

from densevse.config.datasets import READERS
from densevse.config.sources import Source
from densevse.dag.project import Stage, Wildcards, any_of

OBTAINED_BY = {"url", "manual", "size", "sha256", "md5", "sha1"}
"""What decides which bytes come; a corrected licence or note does not."""


class Downloads(Stage):
    """Everything that comes from elsewhere."""

    def sources(self) -> dict[str, Source]:
        """Every source by its path below resources/; those of rules of this workflow are not obtained."""
        config = self.config
        owned = [(owner, source) for owner, dataset in config.datasets.items() for source in dataset.sources.values()]
        owned += [(owner, network.weights) for owner, network in config.networks.items() if network.weights]
        owned += [(owner, vectors.source) for owner, vectors in config.word_vectors.items() if vectors.source]
        owned += [(owner, proposer.source) for owner, proposer in config.proposers.items() if proposer.source]
        return {f"{owner}/{source.file}": source for owner, source in owned if not source.made_by}

    def downloadable(self) -> str:
        """The paths that have an address."""
        return any_of(path for path, source in self.sources().items() if source.url)

    def by_hand(self) -> str:
        """The paths that a person must obtain."""
        return any_of(path for path, source in self.sources().items() if source.manual)

    def source(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides which bytes are obtained."""
        return self.sources()[wildcards.resource].model_dump(mode="json", include=OBTAINED_BY)


class Datasets(Stage):
    """A data set's files, and what its readers are told."""

    def sources(self, wildcards: Wildcards) -> dict[str, str]:
        """Every file that a data set is read from, by source name; Karpathy's only where the options name it."""
        return self.sources_of(wildcards.dataset)

    def sources_of(self, name: str) -> dict[str, str]:
        """The same of a data set by its name."""
        dataset = self.project.datasets[name]
        named = {
            source: self.obtained(name, entry, dataset.local.get(source)) for source, entry in dataset.sources.items()
        }
        named |= dataset.local
        return (
            named
            if getattr(dataset.options, "karpathy", None)
            else {source: path for source, path in named.items() if source != "karpathy"}
        )

    def own_texts(self, wildcards: Wildcards) -> list[str]:
        """The files that are no images in folders of the user's, as a folder's own time says nothing of edits in it."""
        folders = [Path(path) for path in self.dataset(wildcards).local.values() if os.path.isdir(path)]
        return sorted(str(path) for folder in folders for path in folder.rglob("*") if _is_text(path))

    def source_names(self, wildcards: Wildcards) -> list[str]:
        """The names of the inputs that `sources` gives."""
        return list(self.sources(wildcards))

    def reading(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a reader uses of a data set's settings."""
        dataset = self.dataset(wildcards)
        return {
            "reader": dataset.reader,
            "options": self.options(wildcards),
            "known_unreadable": dataset.known_unreadable,
            "only_available": dataset.only_available,
        }

    def options(self, wildcards: Wildcards) -> dict[str, Any]:
        """The reader's own options."""
        given = self.read_by("read_dataset.py", self.dataset(wildcards).options, self._reader(wildcards))
        return {name: value for name, value in given.items() if value is not None}

    def code(self, wildcards: Wildcards) -> str:
        """The code that reads a data set: readers are imported by name."""
        return self.project.code.digest("read_dataset.py", self._reader(wildcards))

    def code_of_boxes(self, wildcards: Wildcards) -> str:
        """The code that reads a data set's true boxes."""
        return self.project.code.digest("read_boxes.py", self._reader(wildcards))

    def code_of_masks(self, wildcards: Wildcards) -> str:
        """The code that reads the masks of a data set's objects."""
        return self.project.code.digest("read_masks.py", self._reader(wildcards))

    def with_masks(self) -> str:
        """The data sets whose objects have masks."""
        return any_of(name for name, dataset in self.config.datasets.items() if dataset.has_masks)

    def official(self) -> str:
        """The data sets that are read from official files: all but what searches bring."""
        return any_of(self.config.datasets)

    def given_boxes(self, wildcards: Wildcards) -> str | None:
        """The user's file of true boxes."""
        return self.dataset(wildcards).boxes

    def with_given_boxes(self) -> str:
        """The data sets for which the user gives true boxes."""
        return any_of(name for name, dataset in self.config.datasets.items() if dataset.boxes)

    def with_official_boxes(self) -> str:
        """The data sets whose official files hold true boxes, unless the user gives others."""
        return any_of(name for name, dataset in self.config.datasets.items() if dataset.has_boxes and not dataset.boxes)

    def made_by(self, rule: str) -> str:
        """The data sets with a source that a rule of this workflow makes."""
        datasets = self.config.datasets.items()
        return any_of(name for name, entry in datasets if any(s.made_by == rule for s in entry.sources.values()))

    def _reader(self, wildcards: Wildcards) -> str:
        """The module of a data set's reader."""
        return READERS[self.dataset(wildcards).reader].IMPLEMENTATION


def _is_text(path: Path) -> bool:
    is_image = (mimetypes.guess_type(path.name)[0] or "").startswith("image/")
    return not is_image and not path.name.startswith(".") and path.is_file()
