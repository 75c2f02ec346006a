"""Features of images and regions in the plan, and the weights of the networks that compute them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from densevse.config.config import Config
from densevse.config.environment import check_extra
from densevse.config.networks import MEAN_OF_REGIONS, NetworkConfig, layer_nodes
from densevse.config.registries import ARCHITECTURES, VIEWS, find_library
from densevse.config.values import DatasetName
from densevse.dag.fields import (
    CONTOURS_OF_MCG,
    FOREST_OF_MCG,
    NETWORK_FIELDS,
    PIXELS,
    PREPROCESSING,
    PROPOSALS_OF_MCG,
    REGION_OPTIONS_FIELDS,
    dump_entry,
    dump_fields,
    recipe,
)
from densevse.dag.project import Stage
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values

IMAGE_FIELDS = {*NETWORK_FIELDS, "options", *PREPROCESSING}
GIVEN_REGIONS = "regions-given"
"""The name of given regions in paths, as no proposer found them."""
FIELDS_OF_REGIONS = IMAGE_FIELDS | {"regions"}


def network_input(network: NetworkConfig) -> dict[str, Any]:
    """The pixels that a network reads, as NetworkInput."""
    return dump_fields(network, PIXELS)


def feature_settings(network: NetworkConfig, view: str) -> dict[str, Any]:
    """The settings of a network that decide a view's features, without other views and the place of its weights."""
    own = ("options",) if network.library else PREPROCESSING
    return {
        **dump_fields(network, (*NETWORK_FIELDS, *own)),
        "layers": {view: network.layers[view]},
        "nodes": layer_nodes(network, view),
    }


class FeatureStage(Stage):
    """Features of images and of regions, by networks of this workflow or given."""

    def given_files(self, dataset: DatasetName, given: str, view: str) -> list[str]:
        """The files from which a view of given features is read."""
        return list(self._given_files(dataset, given, view).values())

    def whole_image_source(self, dataset: DatasetName, given: str, view: str) -> Values | None:
        """The source of whole images' vectors, which become region 0 of given regions."""
        if view != GIVEN_REGIONS:
            return None
        by = self.dataset(dataset).features[given].whole_by
        return {"network": given if by in (None, MEAN_OF_REGIONS) else by}

    def given_job(self, dataset: DatasetName, given: str, view: str) -> Job:
        """The reading of a view of given features, with the role of each file: path, ids or boxes."""
        entry, name = self.dataset(dataset).features[given], view.partition("-")[0]
        options = {
            "name": f"datasets.{dataset}.features.{given}.{name}",
            "network": given,
            "view": name,
            "format": entry.view_file(name).format,
            "image_id": entry.view_file(name).image_id,
            "mean": name == "whole" and entry.whole is None,
            "dtype": entry.dtype,
            "copies": getattr(self.dataset(dataset).options, "copies", 1),
        }
        return Job({"options": options, "file_names": list(self._given_files(dataset, given, view))})

    def _given_files(self, dataset: DatasetName, given: str, view: str) -> dict[str, str]:
        entry, file = self.dataset(dataset), self.dataset(dataset).features[given].view_file(view.partition("-")[0])
        if file.format == "scan":
            return {"path": self.source_file(dataset, entry.sources.get("precomp"), entry.local.get("precomp"))}
        return {name: path for name in ("path", "ids", "boxes") if (path := getattr(file, name)) is not None}

    def files(self, dataset: DatasetName, view: str, network: str) -> list[str]:
        """The feature shards of a view; regions are those of the data set's proposer.

        Raises `InputError` for a network on a data set without pictures, and for features that only other data sets
        have.
        """
        entry = self.dataset(dataset)
        if network in self.config.networks and not entry.has_pictures:
            raise InputError(
                f"datasets.{dataset}: there are no pictures for the network {network} and the view {view}; name "
                f"features of datasets.{dataset}.features."
            )
        if network not in {*entry.features, *self.config.networks, *self.config.concept_networks}:
            raise InputError(
                f"datasets.{dataset}.features: there are no features {network} for the view {view}; add them, or name "
                "another network."
            )
        of = self._feature_dataset(dataset, network)
        by = f"-{self.region_source(dataset, network)}" if VIEWS[view].of_proposals else ""
        folder = f"{self.results}/{of}/features/{network}/{view}{by}"
        return [f"{folder}/{one['shard']}.parquet" for one in self.shards(of)]

    def _feature_dataset(self, dataset: DatasetName, network: str) -> DatasetName:
        """The data set whose features are read: that of the images, unless the features depend on the split.

        A concept network is trained for each resplit, and a resplit may have features of its own.
        """
        of = self.image_dataset(dataset)
        own = network in self.dataset(dataset).features and network not in self.dataset(of).features
        return dataset if own or network in self.config.concept_networks else of

    def shards_of_regions(self, dataset: DatasetName, network: str, proposer: str | None = None) -> list[Values]:
        """The shards of the regions by a network."""
        of = self._feature_dataset(dataset, network)
        return self.shards(of, dataset=of, network=network, proposer=self.region_source(dataset, network, proposer))

    def image_job(self, dataset: DatasetName, network: str, view: str) -> Job:
        """The extraction of a view of whole images by a network."""
        entry = self.network(dataset, network)
        settings = {"network": feature_settings(entry, view), **self._picture_settings(dataset)}
        return Job(settings, [*modules_of_architecture(entry.architecture), f"densevse.vision.views.{view}"])

    def region_job(self, dataset: DatasetName, network: str, proposer: str | None = None) -> Job:
        """The extraction of regions by a network; all boxes of a clustered proposer, which has chosen them, stay."""
        entry = self.network(dataset, network)
        decided = {**feature_settings(entry, "regions"), "regions": dump_fields(entry.regions, REGION_OPTIONS_FIELDS)}
        settings = {"network": decided, **self._picture_settings(dataset)}
        if proposer is not None:
            settings["all_stay"] = self.config.proposers[proposer].kind == "clustered"
        return Job(settings, modules_of_architecture(entry.architecture))

    def _picture_settings(self, dataset: DatasetName) -> dict[str, Any]:
        return {"source_names": self.source_names(dataset), "threads": self.threads(dataset)}

    def proposals(self, dataset: DatasetName, network: str) -> Values | None:
        """An empty mapping, which requests the proposals; or None for a detector, which finds its own boxes."""
        entry = self.network(dataset, network)
        return None if entry.library is None and ARCHITECTURES[entry.architecture].finds_boxes else {}

    def weights(self, dataset: DatasetName, network: str) -> str | Values:
        """A network's weights: the user's own, trained here, or downloaded; Caffe's are converted."""
        if network in self.config.concept_networks:
            return f"{self.results}/{self.training_dataset(dataset)}/networks/{network}.safetensors"
        return self.network_weights(network)

    def network_weights(self, network: str) -> str | Values:
        """The weights of a network that is not a concept network: a user's or another rule's file, or its name.

        Raises `InputError` if the network's library is not installed.
        """
        entry = self.config.networks[network]
        if entry.library is not None and entry.library.extra is not None:
            check_extra(entry.library.package, entry.library.extra, f"networks.{network} ({entry.architecture})")
        if entry.trained_on and not (entry.local or entry.weights):
            return f"{self.results}/{entry.trained_on}/networks/{network}.safetensors"
        published = self.published_weights(network)
        if str(published["file"] if isinstance(published, Mapping) else published).endswith(".caffemodel"):
            return {"network": network, "file": "converted.safetensors"}
        return published

    def published_weights(self, network: str) -> str | Values:
        """A network's published weights: a file of the user, or its name below resources/<network>/."""
        entry = self.config.networks[network]
        if entry.local is not None:
            return entry.local
        return {"network": network, "file": entry.weights.file if entry.weights else ""}

    def precision(self, dataset: DatasetName, network: str) -> Values | None:
        """The data set for which a network's precision was chosen; None if the configuration names it."""
        return (
            {"dataset": self.training_dataset(dataset)} if self.network(dataset, network).precision == "auto" else None
        )

    def class_names(self, dataset: DatasetName, network: str) -> str | Values | None:
        """The file of a network's class names; ImageNet's come with torchvision, concepts from training."""
        if network in self.config.concept_networks:
            return {"dataset": self.training_dataset(dataset)}
        classes = self.network(dataset, network).classes
        return None if classes in (None, "imagenet") else self.project.packaged_file(str(classes))

    def training_job(self, dataset: DatasetName, network: str) -> Job:
        """The training of a network, as densevse.training.scenes.NetworkJob."""
        entry = self.config.networks[network]
        settings = {"pixels": network_input(entry), **recipe(entry, self.threads(dataset))}
        return Job({"job": settings, "source_names": self.source_names(dataset)})

    def network(self, dataset: DatasetName, network: str) -> NetworkConfig:
        """A network's settings; a concept network has those of the network that it is built from."""
        if network not in self.config.concept_networks:
            return self.config.networks[network]
        backbone = self.config.networks[self.backbone(dataset, network)]
        regions = backbone.regions.model_copy(update={"scoring": "crops", "features": "crops", "background": None})
        return backbone.model_copy(update={"layers": {"regions": "classes"}, "regions": regions})

    def backbone(self, dataset: DatasetName, concept_network: str) -> str:
        """The network from which a concept network is built on a data set."""
        own = self.config.concept_networks[concept_network].network
        return own or self.view_network(concept_network, dataset, "whole", {})


def trainable_network(config: Config, network: str) -> NetworkConfig:
    """The settings of a network that is trained further. Raises `InputError` for a library's network."""
    entry = config.networks[network]
    if entry.library is not None:
        raise InputError(
            f"networks.{network}: {entry.architecture} is a library's network, which cannot be trained here; name "
            "another, such as vgg19."
        )
    return entry


def modules_of_architecture(name: str) -> list[str]:
    """The module that a job imports by name to run a network: the implementation of its architecture."""
    return [(find_library(name) or ARCHITECTURES[name]).implementation]


def find_proposers(config: Config, *kinds: str, **options: bool) -> list[str]:
    """The proposers of these kinds; of those, the ones with (or without) the named options."""
    return [
        name
        for name, entry in config.proposers.items()
        if entry.kind in kinds and all(bool(getattr(entry.options, one)) is wanted for one, wanted in options.items())
    ]


class ProposalStage(Stage):
    """The proposers, their jobs, and the user's files that they read."""

    def job(self, dataset: DatasetName, proposer: str) -> Job:
        """The boxes of a proposer of any kind but MCG and clusters."""
        entry = self.config.proposers[proposer]
        options = dump_entry(entry.options)
        # Not the folders of the user's files: the job reads its inputs, and their contents decide.
        options |= {name: Path(options[name]).name for name in ("path", "folder") if name in options}
        return Job(
            {
                "proposer": {"kind": entry.kind, "options": options},
                "source_names": self.source_names(dataset),
            }
        )

    def clusters_job(self, proposer: str) -> Job:
        """The choice among another proposer's boxes."""
        return Job({"options": dump_entry(self.config.proposers[proposer].options)})

    def contours_job(self, dataset: DatasetName, proposer: str) -> Job:
        """The contours of a data set's images, by a proposer's detector."""
        options = mcg_options(self.config, proposer, CONTOURS_OF_MCG)
        return Job({"options": options, "source_names": self.source_names(dataset), "threads": self.threads(dataset)})

    def contour_model(self, proposer: str) -> str | Values:
        """The file of the contour detector: the user's model of structured edges, or HED's weights."""
        return dump_entry(self.config.proposers[proposer].options)["structured_edges"] or {}

    def ranker_from_masks_job(self, proposer: str) -> Job:
        """The ranker that learns from masks."""
        options = mcg_options(self.config, proposer, FOREST_OF_MCG)
        return Job({"options": options, "masks": dump_entry(self.config.proposers[proposer].options)["masks"]})

    def samples(self, proposer: str) -> list[Values]:
        """The candidates from which a ranker learns by masks: those of the first shards of a data set."""
        masks = dump_entry(self.config.proposers[proposer].options)["masks"]
        return self.shards(masks["dataset"], dataset=masks["dataset"])[: masks["shards"]]

    def mcg_job(self, proposer: str) -> Job:
        """MCG's proposals, as boxes or as segments."""
        return Job({"options": mcg_options(self.config, proposer, PROPOSALS_OF_MCG)})


def mcg_options(config: Config, proposer: str, names: Iterable[str]) -> dict[str, Any]:
    """Some options of a proposer by MCG. Raises `InputError`, before any job runs, if higra is not installed."""
    check_extra("higra", extra="mcg", needs=f"proposers.{proposer}: MCG")
    options = config.proposers[proposer].options
    return {name: getattr(options, name) for name in names}
