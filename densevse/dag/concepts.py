"""Concept networks in the plan, each trained on every data set that uses it."""

from densevse.config.values import DatasetName
from densevse.dag import features
from densevse.dag.features import modules_of_architecture, network_input, trainable_network
from densevse.dag.fields import recipe
from densevse.dag.project import Project
from snakeproof.jobs import Job
from snakeproof.paths import Values


def regions(project: Project, dataset: DatasetName, concept_network: str) -> list[Values]:
    """The shards of a concept network's regions: the inputs of its head, or its own outputs."""
    entry = project.config.concept_networks[concept_network]
    network = features.backbone(project, dataset, concept_network) if entry.train == "head" else concept_network
    return features.shards_of_regions(project, dataset, network, entry.proposer)


def regions_of_shard(project: Project, dataset: DatasetName, concept_network: str, shard: str) -> Values:
    """One shard of these regions."""
    return next(values for values in regions(project, dataset, concept_network) if values["shard"] == shard)


def head_job(project: Project, dataset: DatasetName, concept_network: str) -> Job:
    """The training of a concept network's last layer, as ConceptJob."""
    entry = project.config.concept_networks[concept_network]
    settings = {"concept_network": concept_network, "learns_from": entry.learns_from}
    return Job({"job": {**settings, **recipe(entry, project.threads(dataset))}})


def network_job(project: Project, dataset: DatasetName, concept_network: str) -> Job:
    """The training of all its layers, as PixelConceptJob, with the architecture that it is built from."""
    name = features.backbone(project, dataset, concept_network)
    backbone = trainable_network(project, name)
    built_from = {"built_from": name, "architecture": backbone.architecture, "pixels": network_input(backbone)}
    job = {**head_job(project, dataset, concept_network).settings["job"], **built_from}
    return Job(
        {"job": job, "source_names": project.source_names(dataset)},
        modules_of_architecture(backbone.architecture),
        features.resize_revisions(project, dataset, backbone.size),
    )
