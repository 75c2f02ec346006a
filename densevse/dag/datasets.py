"""Downloads, image tables, caption tables and true boxes in the plan."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from densevse.config.config import Config
from densevse.config.datasets import Dataset, WordVectors
from densevse.config.proposers import Proposer
from densevse.config.readers import READERS
from densevse.config.sources import Source, manual_advice
from densevse.config.values import DatasetName, VariantName
from densevse.dag.fields import DOWNLOADED, ON_HUB, PACKAGED_SOURCE, READING, RESPLIT, dump_entry, dump_fields
from densevse.dag.project import Project, Stage
from densevse.report.plan import PicturePlan
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


class DownloadStage(Stage):
    """The files that come from elsewhere."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._sources = sources_by_path(self.config)

    def source(self, resource: str) -> dict[str, Any]:
        """The keys that decide the bytes of a file, with the first of its addresses; a corrected licence does not."""
        source = self._sources[resource]
        if source.hub:
            return {**dump_fields(source, ON_HUB), **({"path": source.path} if source.path else {})}
        if source.packaged:
            return dump_fields(source, PACKAGED_SOURCE)
        return {**dump_fields(source, DOWNLOADED), "url": source.url[0] if source.url else None}

    def refuse_missing(self, missing: Iterable[str]) -> None:
        """Refuses a run that needs files which a person has to obtain, those in `missing`, below resources/.

        Raises `InputError` that says how to obtain each.
        """
        each = [manual_advice(f"{self.resources}/{name}", self._sources[name].manual or "") for name in sorted(missing)]
        if each:
            raise InputError("\n\n".join(each))

    def mirrors(self, resource: str) -> list[str]:
        """The other addresses of the same bytes."""
        return (self._sources[resource].url or [])[1:]


def sources_by_path(config: Config) -> dict[str, Source]:
    """Every source by its path below resources/, without those that rules of this workflow make."""
    own = {owner: dataset for owner, dataset in config.datasets.items() if not dataset.resplit}
    owned: list[tuple[str, Source]] = [
        (owner, source) for owner, dataset in own.items() for source in dataset.sources.values()
    ]
    owned += [(owner, network.weights) for owner, network in config.networks.items() if network.weights]
    owned += [
        (owner, network.tokenizer.source)
        for owner, network in config.networks.items()
        if network.tokenizer and network.tokenizer.source
    ]
    owned += [(owner, vectors.source) for owner, vectors in config.word_vectors.items() if vectors.source]
    owned += [(owner, proposer.source) for owner, proposer in config.proposers.items() if proposer.source]
    return {f"{owner}/{source.file}": source for owner, source in owned if not source.made_by}


def entry_file(entry: Proposer | WordVectors) -> str | Values:
    """The file of an entry: the user's own, or the name of its source below resources/<entry>/."""
    return entry.local or {"file": entry.source.file if entry.source else ""}


UNKNOWN_SIZE = 31_014
"""The images of a data set that does not say how many it has: those of Flickr30k."""


class DatasetStage(Stage):
    """A data set's files, the options of its readers, and the memory that its size takes."""

    def memory(self, least: int, per_thousand: int) -> Callable[[DatasetName], int]:
        """A function that says the MB of a job which holds a data set: `least`, and more for each thousand images."""

        def dataset_memory(dataset: DatasetName) -> int:
            images = self.dataset(dataset).about_images or UNKNOWN_SIZE
            return least + per_thousand * images // 1000

        return dataset_memory

    def sources(self, dataset: DatasetName) -> list[str | Values]:
        """The files from which a data set is read: the user's own, or names below resources/<data set>/."""
        entry, owner = self.dataset(dataset), self.image_dataset(dataset)
        return [
            entry.local.get(name) or {"dataset": owner, "file": entry.sources[name].file}
            for name in self.source_names(dataset)
        ]

    def pictures(self, dataset: DatasetName) -> list[str | Values]:
        """The same files for rules that need pictures. Raises `InputError` for a data set without any."""
        self.check_pictures(dataset)
        return self.sources(dataset)

    def check_pictures(self, dataset: DatasetName) -> None:
        """Raises `InputError` for a data set without pictures."""
        if not self.dataset(dataset).has_pictures:
            raise InputError(
                f"datasets.{dataset}: the reader {self.dataset(dataset).reader} reads features and no pictures, which "
                "this target needs; use another data set."
            )

    def figure_job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The drawing of a variant's figure, from the data set's sources."""
        return Job({"source_names": self.source_names(dataset), "title": self.title_of_variant(dataset, variant)})

    def picture_job(self, dataset: DatasetName, title: str, shown: dict[str, Any]) -> Job:
        """The drawing of several artifacts of a data set: title -> `Identity`."""
        plan = PicturePlan(title=title, shown=shown).model_dump(mode="json")
        return Job({"source_names": self.source_names(dataset), "plan": plan})

    def sources_by_name(self, dataset: DatasetName) -> dict[str, str]:
        """Source -> its file."""
        entry = self.dataset(dataset)
        return {
            name: self.source_file(self.image_dataset(dataset), entry.sources.get(name), entry.local.get(name))
            for name in self.source_names(dataset)
        }

    def reading(self, dataset: DatasetName) -> dict[str, Any]:
        """The settings of a data set that its reader uses."""
        entry = self.dataset(dataset)
        return {
            **dump_fields(entry, READING),
            "options": {name: value for name, value in dump_entry(entry.options).items() if value is not None},
        }

    def reading_job(self, dataset: DatasetName) -> Job:
        """The reading of a data set's files, with its reader, which is imported by name."""
        settings = {"reading": self.reading(dataset), "source_names": self.source_names(dataset)}
        return Job(settings, [READERS[self.dataset(dataset).reader].IMPLEMENTATION])

    def resplit_job(self, dataset: DatasetName) -> Job:
        """The draw of a resplit: its seed, and the number of images of each split."""
        resplit = self.dataset(dataset).resplit
        return Job({"draw": dump_fields(resplit, RESPLIT) if resplit else {}})


class Resplits(NamedTuple):
    """Resplits of one data set that have the same sizes."""

    of: DatasetName  # the data set that they divide
    names: list[DatasetName]
    train: int  # images of each one's split train
    test: int


def group_resplits(names: Iterable[DatasetName], datasets: Mapping[DatasetName, Dataset]) -> list[Resplits]:
    """Those of the named data sets that are resplits, grouped; a resplit without a second one like it is left out.

    Raises `InputError` for two of a group with the same seed, which are the same splits.
    """
    alike: dict[tuple[DatasetName, int, int, int], dict[DatasetName, int]] = {}
    for name in names:
        resplit = datasets[name].resplit
        if resplit:
            sizes = (resplit.of, resplit.train, resplit.val, resplit.test)
            alike.setdefault(sizes, {})[name] = resplit.seed
    found = {sizes: seeds for sizes, seeds in alike.items() if len(seeds) > 1}
    for seeds in found.values():
        _check_resplit_seeds(seeds)
    return [Resplits(of, list(seeds), train, test) for (of, train, _, test), seeds in found.items()]


def _check_resplit_seeds(seeds: Mapping[DatasetName, int]) -> None:
    drawn: dict[int, str] = {}
    for dataset, seed in seeds.items():
        if (other := drawn.setdefault(seed, dataset)) != dataset:
            raise InputError(f"datasets.{dataset}.resplit.seed: {other} has the same one; set another one.")
