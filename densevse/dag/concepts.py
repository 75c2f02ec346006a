"""Concept networks in the plan: their origin, their regions, and the files of their scores."""

from typing import Any

from densevse.config.concepts import ConceptNetwork
from densevse.dag.features import FeatureStage, input_of, modules_of_architecture
from densevse.dag.paths import Values
from densevse.dag.project import Project, Stage, any_of


class ConceptStage(Stage):
    """The concept networks of config/concept_networks, each trained on every data set that uses it."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.features = FeatureStage(project)

    def names(self) -> str:
        """All concept networks."""
        return any_of(self.config.concept_networks)

    def trained(self, how: str) -> str:
        """The concept networks whose head, or whose layers, are all trained."""
        return any_of(name for name, entry in self.config.concept_networks.items() if entry.train == how)

    def entry(self, concept_network: str) -> ConceptNetwork:
        """A concept network's settings."""
        return self.config.concept_networks[concept_network]

    def how(self, concept_network: str) -> str:
        """The trained part of a concept network: head or all."""
        return self.entry(concept_network).train

    def regions(self, dataset: str, concept_network: str) -> list[Values]:
        """The shards of its regions: inputs of its head, or its own outputs."""
        entry = self.entry(concept_network)
        network = self.features.backbone(dataset, concept_network) if entry.train == "head" else concept_network
        return self.features.shards_of_regions(dataset, network, entry.proposer)

    def regions_of_shard(self, dataset: str, concept_network: str, shard: str) -> Values:
        """One shard of these regions."""
        return next(values for values in self.regions(dataset, concept_network) if values["shard"] == shard)

    def weights(self, dataset: str) -> Values:
        """The data set on which the concept networks of a data set are trained."""
        return {"dataset": self.trained_on(dataset)}

    def backbone_weights(self, dataset: str, concept_network: str) -> str | Values:
        """The weights of the network that a concept network is built from."""
        return self.features.weights_of(self.features.backbone(dataset, concept_network))

    def training(self, dataset: str, concept_network: str) -> dict[str, Any]:
        """The settings of a concept network's training, as densevse.training.concepts takes them.

        They are a ConceptJob if its head is trained, and a PixelConceptJob if all layers are.
        """
        entry = self.entry(concept_network)
        job = {"concept_network": concept_network, "learns_from": entry.learns_from}
        if entry.train == "head":
            return {**job, **self.recipe(dataset, entry)}
        backbone = self.features.trainable(self.features.backbone(dataset, concept_network))
        begun_with = {"architecture": backbone.architecture, "pixels": input_of(backbone)}
        return {**job, **begun_with, **self.recipe(dataset, entry)}

    def code_of_training(self, dataset: str, concept_network: str) -> str:
        """The code that trains all layers of a concept network."""
        backbone = self.features.trainable(self.features.backbone(dataset, concept_network))
        return self.project.code.digest("train_concept_network.py", *modules_of_architecture(backbone.architecture))

    def scores(self, dataset: str) -> list[Values]:
        """The shards of scores of concepts."""
        return self.shards(dataset)
