"""What convolutional networks make of images, of regions, and where their weights come from."""

from collections.abc import Callable
from typing import Any

from densevse.config.declared.networks import ARCHITECTURES
from densevse.config.declared.views import VIEWS
from densevse.config.networks import Network
from densevse.dag.project import Stage, Wildcards, any_of

IMAGE_FIELDS = {"architecture", "size", "resize", "mean", "std", "precision", "batch_size"}
REGION_FIELDS = IMAGE_FIELDS | {"regions"}


class Features(Stage):
    """Features of images and of regions."""

    def files(self, dataset: str, view: str, network: str) -> list[str]:
        """The feature shards of a view; regions are those of the data set's proposer."""
        folder = f"{self.results}/{dataset}/features/{network}"
        by = f"-{self.project.datasets[dataset].proposer}" if VIEWS[view].of_proposals else ""
        return self.shards(f"{folder}/{view}{by}", dataset)

    def extracted(self, one_vector: bool = False) -> str:
        """The views whose features a network makes of images; with `one_vector` those that are one vector."""
        views = VIEWS.items()
        return any_of(name for name, view in views if view.extracted and view.one_vector >= one_vector)

    def code_of(self, script: str) -> Callable[[Wildcards], str]:
        """The digest of the code of a job that computes with a network, and of what extracts its view."""

        def code(wildcards: Wildcards) -> str:
            modules = modules_of_architecture(self.network(wildcards).architecture)
            view = getattr(wildcards, "view", None)
            extraction = [f"densevse.vision.views.{view}"] if view else []
            return self.project.code.digest(script, *modules, *extraction)

        return code

    def of_images(self, wildcards: Wildcards) -> dict[str, Any]:
        """What of a network decides a view's features: neither other views nor where its weights are."""
        return self._deciding(wildcards, wildcards.view, IMAGE_FIELDS, "extract_features.py")

    def of_regions(self, wildcards: Wildcards) -> dict[str, Any]:
        """What of a network decides its regions."""
        return self._deciding(wildcards, "regions", REGION_FIELDS, "extract_regions.py")

    def all_stay(self, wildcards: Wildcards) -> bool:
        """Whether all boxes become regions: those of a clustered proposer are chosen already."""
        return self.config.proposers[wildcards.proposer].kind == "clustered"

    def proposals(self, wildcards: Wildcards) -> str | list[str]:
        """The shard's proposals; a detector that finds its own boxes needs none."""
        if ARCHITECTURES[self.network(wildcards).architecture].finds_boxes:
            return []
        return f"{self.results}/{wildcards.dataset}/proposals/{wildcards.proposer}/{wildcards.shard}.parquet"

    def weights(self, wildcards: Wildcards) -> str:
        """A network's weights: the user's own, trained here, or downloaded; those of Caffe are converted."""
        if wildcards.network in self.config.concept_networks:
            return f"{self.results}/{self.seen_as(wildcards.dataset)}/networks/{wildcards.network}.safetensors"
        return self.weights_of(wildcards.network)

    def weights_of(self, name: str) -> str:
        """The weights of a network that is no concept network, by its name."""
        network = self.config.networks[name]
        if network.trained_on and not network.local:
            return f"{self.results}/{network.trained_on}/networks/{name}.safetensors"
        published = self.obtained(name, network.weights, network.local)
        converted = f"{self.resources}/{name}/converted.safetensors"
        return converted if published.endswith(".caffemodel") else published

    def precision(self, wildcards: Wildcards) -> str | list[str]:
        """The precision that was chosen for a network on a data set; none where the configuration names one."""
        if self.network(wildcards).precision != "auto":
            return []
        return f"{self.results}/{self.seen_as(wildcards.dataset)}/features/{wildcards.network}/precision.parquet"

    def published_weights(self, wildcards: Wildcards) -> str:
        """A network's weights as they were obtained."""
        network = self.network(wildcards)
        return self.obtained(wildcards.network, network.weights, network.local)

    def class_names(self, wildcards: Wildcards) -> str | list[str]:
        """The file of a network's class names; ImageNet's come with torchvision, concepts from training."""
        if wildcards.network in self.config.concept_networks:
            return f"{self.results}/{self.seen_as(wildcards.dataset)}/networks/{wildcards.network}_classes.txt"
        classes = self.network(wildcards).classes
        return [] if classes in (None, "imagenet") else self.project.packaged(str(classes))

    def trained_here(self) -> str:
        """The networks that a workflow trains, instead of downloading their weights."""
        return any_of(name for name, network in self.config.networks.items() if network.trained_on)

    def training(self, wildcards: Wildcards) -> dict[str, Any]:
        """What of a network decides its training."""
        values = self.read_by("train_network.py", self.network(wildcards))
        return {name: values[name] for name in ("mean", "size", "std")}

    def named(self) -> str:
        """The networks that make features of images: those of config/networks, and concept networks of their own."""
        own = [name for name, entry in self.config.concept_networks.items() if entry.train == "all"]
        return any_of([*self.config.networks, *own])

    def network(self, wildcards: Wildcards) -> Network:
        """A network's settings; a concept network has those of the one that it is made of, and gives its scores."""
        if wildcards.network not in self.config.concept_networks:
            return self.config.networks[wildcards.network]
        backbone = self.config.networks[self.backbone(wildcards.network, wildcards.dataset)]
        regions = backbone.regions.model_copy(update={"scoring": "crops", "features": "crops", "background": None})
        return backbone.model_copy(update={"layers": {"regions": "classes"}, "regions": regions})

    def backbone(self, concept_network: str, dataset: str) -> str:
        """The network that a concept network is made of on a data set."""
        return self.config.concept_networks[concept_network].network or self.project.datasets[dataset].networks["whole"]

    def _deciding(self, wildcards: Wildcards, view: str, fields: set[str], script: str) -> dict[str, Any]:
        network = self.network(wildcards)
        values = {name: value for name, value in self.read_by(script, network).items() if name in fields}
        return {**values, "layers": {view: network.layers[view]}}


def modules_of_architecture(name: str) -> list[str]:
    """The modules that a job which computes with a network imports by name: its architecture, and what declares it.

    The declaration counts because a job takes the nodes of layers from it.
    """
    return [ARCHITECTURES[name].implementation, ARCHITECTURES.module(name)]
