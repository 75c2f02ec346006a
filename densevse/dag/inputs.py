"""The artifacts that a model reads of a data set, by the names of densevse.data.files.Files."""

from collections.abc import Collection, Iterable, Mapping

from densevse.config.strict import DatasetName
from densevse.config.views import STRUCTURES, VIEWS, described_by
from densevse.dag.datasets import DatasetStage
from densevse.dag.features import FeatureStage
from densevse.dag.language import ParseStage
from densevse.dag.project import Stage

InputFiles = dict[str, str | list[str]]


class InputStage(Stage):
    """The artifacts of images and of sentences that methods and generators read."""

    def of_images(
        self, reader: str, dataset: DatasetName, views: Iterable[str], networks: Mapping[str, str]
    ) -> InputFiles:
        """The image table, and the features of views by `networks` or else by the data set's networks.

        Raises `InputError` that names the `reader` and a view without a network.
        """
        # not `images`, which may be the name of a data set's source
        inputs: InputFiles = {"image_table": f"{self.results}/{dataset}/images.parquet"}
        for view in views:
            network = self.network_of(reader, dataset, view, networks)
            inputs[f"view_{view}"] = FeatureStage(self.project).files(dataset, described_by(view), network)
            inputs |= self._sources(dataset) if VIEWS[view].pixels else {}
        return inputs

    def _sources(self, dataset: DatasetName) -> InputFiles:
        """The files with a data set's images."""
        return {
            f"source_{source}": path for source, path in DatasetStage(self.project).sources_by_name(dataset).items()
        }

    def of_sentences(
        self, dataset: DatasetName, structures: Collection[str], dependencies: str = "enhanced"
    ) -> InputFiles:
        """The sentences, the structures that are read of them, and their vocabularies.

        `dependencies` is the kind of dependencies in triplets.
        """
        folder, known_by = f"{self.results}/{dataset}", f"{self.results}/{self.trained_on(dataset)}/vocabulary"
        inputs: InputFiles = {"caption_table": f"{folder}/captions.parquet"}
        read = [STRUCTURES[name] for name in structures]
        if not all(structure.by_network for structure in read):
            inputs |= {"tokens": f"{folder}/tokens.parquet", "words": f"{known_by}/words.parquet"}
        if any(structure.parsed for structure in read):
            shards = ParseStage(self.project).of_dataset_parser(dataset)
            inputs["parses"] = [
                "{}/{dataset}/parses/{parser}/{shard}.parquet".format(self.results, **of) for of in shards
            ]
        kind = "basic" if any(structure.basic for structure in read) else dependencies
        for structure in read:
            for name, file in structure.vocabularies.items():
                inputs[name] = f"{known_by}/{file.format(dependencies=kind)}.parquet"
        return inputs
