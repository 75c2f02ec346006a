"""Concept networks: what they are made of, what they look at, and where their scores are."""

from typing import Any

from densevse.config.concepts import ConceptNetwork
from densevse.dag.features import Features, modules_of_architecture
from densevse.dag.project import Project, Stage, Wildcards, any_of


class Concepts(Stage):
    """The concept networks of config/concept_networks, each trained on every data set that asks for it."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.features = Features(project)

    def names(self) -> str:
        """Every concept network."""
        return any_of(self.config.concept_networks)

    def trained(self, how: str) -> str:
        """The concept networks of which the head is trained, or all layers."""
        return any_of(name for name, entry in self.config.concept_networks.items() if entry.train == how)

    def entry(self, wildcards: Wildcards) -> ConceptNetwork:
        """A concept network's settings."""
        return self.config.concept_networks[wildcards.concept_network]

    def how(self, wildcards: Wildcards) -> str:
        """What of a concept network is trained: head or all."""
        return self.entry(wildcards).train

    def regions(self, wildcards: Wildcards) -> list[str]:
        """All shards of the regions that a concept network looks at: what its head is given, or its own outputs."""
        dataset, entry = wildcards.dataset, self.entry(wildcards)
        network = self.backbone(wildcards) if entry.train == "head" else wildcards.concept_network
        return self.shards(f"{self.results}/{dataset}/features/{network}/regions-{entry.proposer}", dataset)

    def regions_of_shard(self, wildcards: Wildcards) -> str:
        """One shard of them."""
        return next(path for path in self.regions(wildcards) if path.endswith(f"/{wildcards.shard}.parquet"))

    def weights(self, wildcards: Wildcards) -> str:
        """A concept network's weights."""
        return f"{self.results}/{self.seen_as(wildcards.dataset)}/networks/{wildcards.concept_network}.safetensors"

    def backbone(self, wildcards: Wildcards) -> str:
        """The network that a concept network is made of."""
        return self.features.backbone(wildcards.concept_network, wildcards.dataset)

    def backbone_weights(self, wildcards: Wildcards) -> str:
        """Its weights."""
        return self.features.weights_of(self.backbone(wildcards))

    def backbone_settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """What of it decides training from pixels."""
        return self.read_by("train_concept_network.py", self.config.networks[self.backbone(wildcards)])

    def training(self, wildcards: Wildcards) -> dict[str, Any]:
        """What decides how a concept network is trained, as densevse.training.concepts.ConceptJob takes it."""
        entry = self.entry(wildcards)
        script = {"head": "train_concept_head.py", "all": "train_concept_network.py"}[entry.train]
        phases = [{"name": name, **self.read_by(script, phase)} for name, phase in entry.phases.items()]
        return {
            "name": wildcards.concept_network,
            "learns_from": entry.learns_from,
            "training": self.read_by(script, entry.training),
            "phases": phases,
            "seed": entry.seed,
            "threads": self.threads(wildcards),
        }

    def code_of_training(self, wildcards: Wildcards) -> str:
        """The code that trains all layers of a concept network."""
        backbone = self.config.networks[self.backbone(wildcards)]
        return self.project.code.digest("train_concept_network.py", *modules_of_architecture(backbone.architecture))

    def scores_by_region(self, wildcards: Wildcards) -> list[str]:
        """All shards of its scores by the best region."""
        return self.features.files(wildcards.dataset, "concepts", wildcards.concept_network)

    def scores_by_whole(self, wildcards: Wildcards) -> list[str]:
        """All shards of its scores by the whole image alone."""
        return self.features.files(wildcards.dataset, "concepts_whole", wildcards.concept_network)

    def of_dataset(self, wildcards: Wildcards) -> str:
        """The concept network that methods are given the scores of, on a data set."""
        return self.dataset(wildcards).networks["concepts"]

    def precision_of_dataset(self, wildcards: Wildcards) -> str:
        """Its average precision of each concept."""
        return self._measured(wildcards, "average_precision")

    def mean_precision_of_dataset(self, wildcards: Wildcards) -> str:
        """The mean of them, with intervals."""
        return self._measured(wildcards, "mean_average_precision")

    def _measured(self, wildcards: Wildcards, measure: str) -> str:
        return f"{self.results}/{wildcards.dataset}/networks/{self.of_dataset(wildcards)}_{measure}.parquet"

    def scores_of_dataset(self, wildcards: Wildcards) -> list[str]:
        """Its scores."""
        return self.features.files(wildcards.dataset, "concepts", self.of_dataset(wildcards))
