"""The artifacts that models read of a data set: parses, vocabularies, concepts, and the inputs of a job by name."""

from collections.abc import Collection, Iterable, Mapping

from densevse.config.registries import STRUCTURES, VIEWS, feature_view
from densevse.config.values import DatasetName
from densevse.dag.datasets import DatasetStage
from densevse.dag.features import FeatureStage, modules_of_architecture, network_input, trainable_network
from densevse.dag.fields import WORD_VECTORS_FILE, dump_entry, dump_fields, recipe
from densevse.dag.project import Project, Stage
from snakeproof.jobs import Job
from snakeproof.paths import Values


class ParseStage(Stage):
    """The parsers of sentences."""

    def job(self, parser: str) -> Job:
        """The parsing of sentences by CoreNLP: all its options but the memory, which decides no parse."""
        options = dump_entry(self.config.parsers[parser].options)
        return Job({"options": {name: value for name, value in options.items() if name != "memory_mb"}})

    def images(self, dataset: DatasetName) -> Values | None:
        """An empty mapping, which requests the image table, if sentences have images; or else None."""
        return {} if self.dataset(dataset).sentences_have_images else None

    def parse_shards(self, dataset: DatasetName) -> list[Values]:
        """The shards of a data set's parses, by its parser."""
        of = self.image_dataset(dataset)
        return self.shards(of, dataset=of, parser=self.dataset(of).parser)


class VocabularyStage(Stage):
    """Vocabularies and pre-trained word vectors."""

    def picked_vectors(self, dataset: DatasetName) -> Values | None:
        """The pre-trained vectors of a data set's words, if it uses any."""
        name = self.dataset(dataset).word_vectors
        return {"vectors": name} if name else None

    def vectors_job(self, vectors: str) -> Job:
        """The reading of word vectors: all settings but the place of their file."""
        return Job({"settings": dump_fields(self.config.word_vectors[vectors], WORD_VECTORS_FILE)})


class ConceptStage(Stage):
    """The concept networks of config/concept_networks, each trained on every data set that uses it."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.features = FeatureStage(project)

    def regions(self, dataset: DatasetName, concept_network: str) -> list[Values]:
        """The shards of a concept network's regions: the inputs of its head, or its own outputs."""
        entry = self.config.concept_networks[concept_network]
        network = self.features.backbone(dataset, concept_network) if entry.train == "head" else concept_network
        return self.features.shards_of_regions(dataset, network, entry.proposer)

    def regions_of_shard(self, dataset: DatasetName, concept_network: str, shard: str) -> Values:
        """One shard of these regions."""
        return next(values for values in self.regions(dataset, concept_network) if values["shard"] == shard)

    def head_job(self, dataset: DatasetName, concept_network: str) -> Job:
        """The training of a concept network's last layer, as ConceptJob."""
        entry = self.config.concept_networks[concept_network]
        settings = {"concept_network": concept_network, "learns_from": entry.learns_from}
        return Job({"job": {**settings, **recipe(entry, self.threads(dataset))}})

    def network_job(self, dataset: DatasetName, concept_network: str) -> Job:
        """The training of all its layers, as PixelConceptJob, with the architecture that it is built from."""
        name = self.features.backbone(dataset, concept_network)
        backbone = trainable_network(self.config, name)
        built_from = {"built_from": name, "architecture": backbone.architecture, "pixels": network_input(backbone)}
        job = {**self.head_job(dataset, concept_network).settings["job"], **built_from}
        return Job(
            {"job": job, "source_names": self.source_names(dataset)}, modules_of_architecture(backbone.architecture)
        )


InputFiles = dict[str, str | list[str]]


class InputStage(Stage):
    """The artifacts of images and of sentences that methods and generators read."""

    def inputs_of_images(
        self, reader: str, dataset: DatasetName, views: Iterable[str], networks: Mapping[str, str]
    ) -> InputFiles:
        """The image table, and the features of views by `networks` or else by the data set's networks.

        Raises `InputError` that names the `reader` and a view without a network.
        """
        # not `images`, which may be the name of a data set's source
        inputs: InputFiles = {"image_table": f"{self.results}/{dataset}/images.parquet"}
        for view in views:
            network = self.view_network(reader, dataset, view, networks)
            inputs[f"view_{view}"] = FeatureStage(self.project).files(dataset, feature_view(view), network)
            inputs |= self._sources(dataset) if VIEWS[view].pixels else {}
        return inputs

    def _sources(self, dataset: DatasetName) -> InputFiles:
        """The files with a data set's images."""
        return {
            f"source_{source}": path for source, path in DatasetStage(self.project).sources_by_name(dataset).items()
        }

    def inputs_of_sentences(
        self, dataset: DatasetName, structures: Collection[str], dependencies: str = "enhanced"
    ) -> InputFiles:
        """The sentences, the structures that are read of them, and their vocabularies.

        `dependencies` is the kind of dependencies in triplets.
        """
        folder, known_by = f"{self.results}/{dataset}", f"{self.results}/{self.training_dataset(dataset)}/vocabulary"
        inputs: InputFiles = {"caption_table": f"{folder}/captions.parquet"}
        read = [STRUCTURES[name] for name in structures]
        if not all(structure.by_network for structure in read):
            inputs |= {"tokens": f"{folder}/tokens.parquet", "words": f"{known_by}/words.parquet"}
        if any(structure.parsed for structure in read):
            shards = ParseStage(self.project).parse_shards(dataset)
            inputs["parses"] = [
                "{}/{dataset}/parses/{parser}/{shard}.parquet".format(self.results, **of) for of in shards
            ]
        kind = "basic" if any(structure.basic for structure in read) else dependencies
        for structure in read:
            for name, file in structure.vocabularies.items():
                inputs[name] = f"{known_by}/{file.format(dependencies=kind)}.parquet"
        return inputs
