"""Features of images and regions in the plan, and the weights of the networks that compute them."""

from collections.abc import Mapping
from typing import Any

from densevse.config.model_folders import model_files
from densevse.config.networks import MEAN_OF_REGIONS, NetworkConfig, layer_nodes
from densevse.config.registries import ARCHITECTURES, VIEWS, find_library
from densevse.config.values import DatasetName
from densevse.dag.fields import NETWORK_FIELDS, PIXELS, PREPROCESSING, REGION_OPTIONS_FIELDS, dump_fields, recipe
from densevse.dag.project import Project, check_library
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values

IMAGE_FIELDS = {*NETWORK_FIELDS, "options", *PREPROCESSING}
GIVEN_REGIONS = "regions-given"
"""The name of given regions in paths, as no proposer found them."""
FIELDS_OF_REGIONS = IMAGE_FIELDS | {"regions"}


_LONGEST = 8
"""The largest ratio of sides that resizing keeps, as in densevse.vision.crops."""
_RESIZED = ("centre", "ten_crop")
"""The views of whose crops `resize` decides."""


def network_input(network: NetworkConfig) -> dict[str, Any]:
    """The pixels that a network reads, as NetworkInput."""
    return dump_fields(network, PIXELS)


def feature_settings(network: NetworkConfig, view: str) -> dict[str, Any]:
    """The settings of a network that decide a view's features, without other views and the place of its weights."""
    own = ("prompts",) if network.folder else ("options",) if network.library else PREPROCESSING
    return {
        **dump_fields(network, (*NETWORK_FIELDS, *own)),
        "layers": {view: network.layers[view]},
        "nodes": layer_nodes(network, view),
    }


def given_files(project: Project, dataset: DatasetName, given: str, view: str) -> list[str]:
    """The files from which a view of given features is read."""
    return list(_given_files(project, dataset, given, view).values())


def whole_image_source(project: Project, dataset: DatasetName, given: str, view: str) -> Values | None:
    """The source of whole images' vectors, which become region 0 of given regions."""
    if view != GIVEN_REGIONS:
        return None
    by = project.datasets[dataset].features[given].whole_by
    return {"network": given if by in (None, MEAN_OF_REGIONS) else by}


def given_job(project: Project, dataset: DatasetName, given: str, view: str) -> Job:
    """The reading of a view of given features, with the role of each file: path, ids or boxes."""
    entry, name = project.datasets[dataset].features[given], view.partition("-")[0]
    options = {
        "name": f"datasets.{dataset}.features.{given}.{name}",
        "network": given,
        "view": name,
        "format": entry.view_file(name).format,
        "image_id": entry.view_file(name).image_id,
        "mean": name == "whole" and entry.whole is None,
        "dtype": entry.dtype,
        "copies": getattr(project.datasets[dataset].options, "copies", 1),
        "padding": entry.view_file(name).padding,
    }
    return Job({"options": options, "file_names": list(_given_files(project, dataset, given, view))})


def _given_files(project: Project, dataset: DatasetName, given: str, view: str) -> dict[str, str]:
    entry, file = project.datasets[dataset], project.datasets[dataset].features[given].view_file(view.partition("-")[0])
    if file.format == "scan":
        return {"path": project.source_file(dataset, entry.sources.get("precomp"), entry.local.get("precomp"))}
    return {name: path for name in ("path", "ids", "boxes") if (path := getattr(file, name)) is not None}


def files(project: Project, dataset: DatasetName, view: str, network: str) -> list[str]:
    """The feature shards of a view; regions are those of the data set's proposer.

    Raises `InputError` for a network on a data set without pictures, and for features that only other data sets
    have.
    """
    entry = project.datasets[dataset]
    if network in project.config.networks and not entry.has_pictures:
        raise InputError(
            f"datasets.{dataset}: there are no pictures for the network {network} and the view {view}; name "
            f"features of datasets.{dataset}.features."
        )
    if network not in {*entry.features, *project.config.networks, *project.config.concept_networks}:
        raise InputError(
            f"datasets.{dataset}.features: there are no features {network} for the view {view}; add them, or name "
            "another network."
        )
    of = _feature_dataset(project, dataset, network)
    by = f"-{_region_source(project, dataset, network)}" if VIEWS[view].of_proposals else ""
    folder = f"{project.results}/{of}/features/{network}/{view}{by}"
    return [f"{folder}/{one['shard']}.parquet" for one in project.shards(of)]


def _feature_dataset(project: Project, dataset: DatasetName, network: str) -> DatasetName:
    """The data set whose features are read: that of the images, unless the features depend on the split.

    A concept network is trained for each resplit, and a resplit may have features of its own.
    """
    of = project.image_dataset(dataset)
    own = network in project.datasets[dataset].features and network not in project.datasets[of].features
    return dataset if own or network in project.config.concept_networks else of


def shards_of_regions(
    project: Project, dataset: DatasetName, network: str, proposer: str | None = None
) -> list[Values]:
    """The shards of the regions by a network."""
    of = _feature_dataset(project, dataset, network)
    return project.shards(of, dataset=of, network=network, proposer=_region_source(project, dataset, network, proposer))


def image_job(project: Project, dataset: DatasetName, network: str, view: str) -> Job:
    """The extraction of a view of whole images by a network."""
    entry = network_settings(project, dataset, network)
    if view not in _RESIZED:
        entry = entry.model_copy(update={"resize": project.config.networks[network].resize})
    settings = {"network": feature_settings(entry, view), **_picture_settings(project, dataset)}
    modules = [*modules_of_architecture(entry.architecture), f"densevse.vision.views.{view}"]
    keeps_shape = view in _RESIZED
    return Job(settings, modules, {} if entry.library else resize_revisions(project, dataset, entry.size, keeps_shape))


def region_job(project: Project, dataset: DatasetName, network: str, proposer: str | None = None) -> Job:
    """The extraction of regions by a network; all boxes of a clustered proposer, which has chosen them, stay."""
    entry = network_settings(project, dataset, network)
    decided = {**feature_settings(entry, "regions"), "regions": dump_fields(entry.regions, REGION_OPTIONS_FIELDS)}
    settings = {"network": decided, **_picture_settings(project, dataset)}
    if proposer is not None:
        settings["all_stay"] = project.config.proposers[proposer].kind == "clustered"
    revisions: dict[str, int] = {}
    if entry.library is None and not ARCHITECTURES[entry.architecture].finds_boxes:
        revisions = resize_revisions(project, dataset, entry.regions.crop_size or entry.size)
    return Job(settings, modules_of_architecture(entry.architecture), revisions)


def resize_revisions(project: Project, dataset: DatasetName, side: int, keeps_shape: bool = False) -> dict[str, int]:
    """The revision of pictures that are resized, unless the data set's `sides` say that it changes none of them.

    Changed is a picture with a side that shrinks and one that does not: to a square of `side` pixels, or where its
    shape is kept, but for very long ones. Its long side was sampled, and is averaged now.
    """
    known = project.datasets[project.image_dataset(dataset)].sides
    if known is None:
        return {"resize": 2}
    smallest, largest = known
    same = largest <= _LONGEST * smallest if keeps_shape else side < smallest or largest <= side
    return {} if same else {"resize": 2}


def _picture_settings(project: Project, dataset: DatasetName) -> dict[str, Any]:
    return {"source_names": project.source_names(dataset), "threads": project.threads(dataset)}


def _region_source(project: Project, dataset: DatasetName, network: str, proposer: str | None = None) -> str:
    """The source of a network's regions: the `proposer`, by default the data set's; or given."""
    entry = project.datasets[dataset]
    return "given" if network in entry.features else proposer or entry.proposer


def needs_proposals(project: Project, dataset: DatasetName, network: str) -> bool:
    """True for a network that is no detector, which finds its own boxes."""
    entry = network_settings(project, dataset, network)
    return entry.library is not None or not ARCHITECTURES[entry.architecture].finds_boxes


def weights(project: Project, dataset: DatasetName, network: str) -> str | Values:
    """A network's weights: the user's own, its folder, trained here, or downloaded; Caffe's are converted."""
    if network in project.config.networks and project.config.networks[network].folder:
        return encoder_folder(project, network)
    if network in project.config.concept_networks:
        return f"{project.results}/{project.training_dataset(dataset)}/networks/{network}.safetensors"
    return network_weights(project, network)


def network_weights(project: Project, network: str) -> str | Values:
    """The weights of a network that is not a concept network: a user's or another rule's file, or its name.

    Raises `InputError` if the network's library is not installed, or for a folder.
    """
    entry = project.config.networks[network]
    check_library(network, entry)
    if entry.folder is not None:
        raise InputError(f"networks.{network}: {entry.architecture} makes the view whole alone; name another network.")
    if entry.trained_on and not (entry.local or entry.weights):
        return f"{project.results}/{entry.trained_on}/networks/{network}.safetensors"
    published = published_weights(project, network)
    if str(published["file"] if isinstance(published, Mapping) else published).endswith(".caffemodel"):
        return {"network": network, "file": "converted.safetensors"}
    return published


def published_weights(project: Project, network: str) -> str | Values:
    """A network's published weights: a file of the user, or its name below resources/<network>/."""
    entry = project.config.networks[network]
    if entry.local is not None:
        return entry.local
    return {"network": network, "file": entry.weights.file if entry.weights else ""}


def precision(project: Project, dataset: DatasetName, network: str) -> Values | None:
    """The data set for which a network's precision was chosen; None if the configuration names it."""
    return (
        {"dataset": project.training_dataset(dataset)}
        if network_settings(project, dataset, network).precision == "auto"
        else None
    )


def class_names(project: Project, dataset: DatasetName, network: str) -> str | Values | None:
    """The file of a network's class names; ImageNet's come with torchvision, concepts from training."""
    if network in project.config.concept_networks:
        return {"dataset": project.training_dataset(dataset)}
    classes = network_settings(project, dataset, network).classes
    return None if classes in (None, "imagenet") else project.packaged_file(str(classes))


def encoder_folder(project: Project, network: str) -> str:
    """The folder of an encoder. Raises `InputError` for one that the library must not see, or without the library."""
    entry = project.config.networks[network]
    check_library(network, entry)
    model_files(str(entry.folder))
    return str(entry.folder)


def encoding_job(project: Project, dataset: DatasetName, network: str) -> Job:
    """The encoding of the test split by an encoder in a folder."""
    entry = project.network_entry(network)
    ranked = {"ranked_sentences": project.datasets[dataset].sentences}
    settings = {"network": feature_settings(entry, "whole"), **ranked, **_picture_settings(project, dataset)}
    return Job(settings, modules_of_architecture(entry.architecture))


def training_job(project: Project, dataset: DatasetName, network: str) -> Job:
    """The training of a network, as densevse.training.scenes.NetworkJob."""
    entry = project.network_entry(network)
    settings = {"pixels": network_input(entry), **recipe(entry, project.threads(dataset))}
    return Job({"job": settings, "source_names": project.source_names(dataset)})


def network_settings(project: Project, dataset: DatasetName, network: str) -> NetworkConfig:
    """A network's settings; a concept network has those of the network that it is built from."""
    if network not in project.config.concept_networks:
        return _exact_network(project, dataset, network)
    built_from = _exact_network(project, dataset, backbone(project, dataset, network))
    regions = built_from.regions.model_copy(update={"scoring": "crops", "features": "crops", "background": None})
    return built_from.model_copy(update={"layers": {"regions": "classes"}, "regions": regions})


def _exact_network(project: Project, dataset: DatasetName, network: str) -> NetworkConfig:
    """A network's settings; for exact jobs in float32. Raises `InputError` if it is to be bf16 there."""
    entry = project.network_entry(network)
    if not project.is_exact(dataset):
        return entry
    if entry.precision == "bf16":
        raise InputError(f"networks.{network}.precision: bf16 is not exact; write fp32, or leave `exact` out.")
    return entry.model_copy(update={"precision": "fp32"})


def backbone(project: Project, dataset: DatasetName, concept_network: str) -> str:
    """The network from which a concept network is built on a data set."""
    own = project.config.concept_networks[concept_network].network
    return own or project.view_network(concept_network, dataset, "whole", {})


def trainable_network(project: Project, network: str) -> NetworkConfig:
    """The settings of a network that is trained further. Raises `InputError` for a library's network."""
    entry = project.config.networks[network]
    if entry.library is not None:
        raise InputError(
            f"networks.{network}: {entry.architecture} is a library's network, which cannot be trained here; name "
            "another, such as vgg19."
        )
    return project.network_entry(network)


def modules_of_architecture(name: str) -> list[str]:
    """The module that a job imports by name to run a network: the implementation of its architecture."""
    return [(find_library(name) or ARCHITECTURES[name]).implementation]
