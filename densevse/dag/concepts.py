"""Concept networks in the plan: their origin, their regions, and the files of their scores."""

from densevse.config.strict import DatasetName
from densevse.dag.datasets import DatasetStage
from densevse.dag.features import FeatureStage, input_of, modules_of_architecture, trainable
from densevse.dag.fields import recipe
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.project import Project, Stage


class ConceptStage(Stage):
    """The concept networks of config/concept_networks, each trained on every data set that uses it."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.features = FeatureStage(project)

    def regions(self, dataset: DatasetName, concept_network: str) -> list[Values]:
        """The shards of its regions: inputs of its head, or its own outputs."""
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
        backbone = trainable(self.config, name)
        built_from = {"built_from": name, "architecture": backbone.architecture, "pixels": input_of(backbone)}
        names = DatasetStage(self.project).source_names(dataset)
        job = {**self.head_job(dataset, concept_network).settings["job"], **built_from}
        return Job({"job": job, "source_names": names}, modules_of_architecture(backbone.architecture))
