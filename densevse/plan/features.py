"""What convolutional networks make of images, of regions, and where their weights come from."""

from typing import Any, cast

from densevse.plan.project import Stage, Wildcards, any_of
from densevse.settings.networks import Network, View

IMAGE_FIELDS = {"architecture", "size", "resize", "mean", "std", "precision", "batch_size"}
REGION_FIELDS = IMAGE_FIELDS | {"regions"}


class Features(Stage):
    """Features of images and of regions."""

    def files(self, dataset: str, view: str, network: str) -> list[str]:
        """The feature shards of a view; regions are those of the data set's proposer."""
        folder = f"{self.results}/{dataset}/features/{network}"
        if view == "regions":
            return self.shards(f"{folder}/regions-{self.config.datasets[dataset].proposer}", dataset)
        return self.shards(f"{folder}/{view}", dataset)

    def of_images(self, wildcards: Wildcards) -> dict[str, Any]:
        """What of a network decides a view's features: neither other views nor where its weights are."""
        return self._deciding(wildcards, cast(View, wildcards.view), IMAGE_FIELDS, "extract_features.py")

    def of_regions(self, wildcards: Wildcards) -> dict[str, Any]:
        """What of a network decides its regions."""
        return self._deciding(wildcards, "regions", REGION_FIELDS, "extract_regions.py")

    def proposals(self, wildcards: Wildcards) -> str | list[str]:
        """The shard's proposals; a detector that finds its own boxes needs none."""
        if self.network(wildcards).architecture == "faster_rcnn":
            return []
        return f"{self.results}/{wildcards.dataset}/proposals/{wildcards.proposer}/{wildcards.shard}.parquet"

    def weights(self, wildcards: Wildcards) -> str:
        """A network's weights: the user's own, trained here, or downloaded; those of Caffe are converted."""
        network = self.network(wildcards)
        if network.trained_on and not network.local:
            return f"{self.results}/{network.trained_on}/networks/{wildcards.network}.safetensors"
        published = self.published_weights(wildcards)
        converted = f"{self.resources}/{wildcards.network}/converted.safetensors"
        return converted if published.endswith(".caffemodel") else published

    def precision(self, wildcards: Wildcards) -> str | list[str]:
        """The precision that was chosen for a network on a data set; none where the configuration names one."""
        if self.network(wildcards).precision != "auto":
            return []
        return f"{self.results}/{wildcards.dataset}/features/{wildcards.network}/precision.parquet"

    def published_weights(self, wildcards: Wildcards) -> str:
        """A network's weights as they were obtained."""
        network = self.network(wildcards)
        return self.obtained(wildcards.network, network.weights, network.local)

    def class_names(self, wildcards: Wildcards) -> str | list[str]:
        """The file of a network's class names; ImageNet's come with torchvision."""
        classes = self.network(wildcards).classes
        return [] if classes in (None, "imagenet") else self.project.packaged(str(classes))

    def trained_here(self) -> str:
        """The networks that a workflow trains, instead of downloading their weights."""
        return any_of(name for name, network in self.config.networks.items() if network.trained_on)

    def training(self, wildcards: Wildcards) -> dict[str, Any]:
        """What of a network decides its training."""
        values = self.read_by("train_network.py", self.network(wildcards))
        return {name: values[name] for name in ("mean", "size", "std")}

    def network(self, wildcards: Wildcards) -> Network:
        """A network's settings."""
        return self.config.networks[wildcards.network]

    def _deciding(self, wildcards: Wildcards, view: View, fields: set[str], script: str) -> dict[str, Any]:
        network = self.network(wildcards)
        values = {name: value for name, value in self.read_by(script, network).items() if name in fields}
        return {**values, "layers": {view: network.layers[view]}}
