"""Localisation of phrases in the plan: the variants that can do it, and their inputs."""

from densevse.analyses.localisation.settings import LocalisationSettings, LocalisationWindows
from densevse.config.registries import VIEWS
from densevse.config.values import DatasetName, VariantName
from densevse.dag import features, training
from densevse.dag.fields import dump_fields
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


def training_dataset(project: Project, dataset: DatasetName) -> DatasetName:
    """The data set whose models localise phrases: itself, unless its configuration names another."""
    return _entry(project, dataset).trained_on or project.training_dataset(dataset)


def windows(project: Project, dataset: DatasetName, variant: VariantName) -> Values:
    """The features of windows that a variant reads. Raises `InputError` that names a variant that cannot."""
    trained_on = training_dataset(project, dataset)
    entry = project.variant(trained_on, variant)
    if len(entry.views) != 1 or not VIEWS[entry.views[0]].one_vector or list(entry.sentences) != ["words"]:
        raise InputError(
            f"localisation: {variant} reads {', '.join(entry.views)} of images and "
            f"{', '.join(entry.sentences)} of sentences, but windows have one vector (view "
            f"{', '.join(name for name, view in VIEWS.items() if view.one_vector)}) and phrases have words alone. "
            "Name another variant, such as vse."
        )
    (view,) = entry.views
    return {"network": project.view_network(variant, trained_on, view, entry.networks), "view": view}


def model(project: Project, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> Values:
    """The model of a variant's round: values of its path."""
    trained_on = training_dataset(project, dataset)
    return {"dataset": trained_on, **project.variant_round(trained_on, variant, seed, round)}


def last_round(project: Project, dataset: DatasetName, variant: VariantName) -> Values:
    """The last round of a variant, for its first seed."""
    return project.last_round(training_dataset(project, dataset), variant)


def boxes(project: Project, dataset: DatasetName) -> Values:
    """The true boxes of phrases or objects. Raises `InputError` if there are none."""
    if not project.datasets[dataset].has_boxes:
        raise InputError(
            f"localisation: {dataset} has no true boxes of phrases or objects; give some as datasets.{dataset}.boxes."
        )
    return {"dataset": dataset}


def windows_job(project: Project, dataset: DatasetName, network: str, view: str) -> Job:
    """The extraction of windows' features by a network: of how many images, and which windows."""
    job = features.image_job(project, dataset, network, view)
    chosen = dump_fields(_entry(project, dataset), ("images", "sides", "stride"))
    return job._replace(settings={**job.settings, "chosen": chosen})


def localise_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The job of a variant's heat maps: the number of cells along each side, and the threads."""
    modules = training.modules(project, training_dataset(project, dataset), variant)
    return Job({"cells": _entry(project, dataset).cells, "threads": project.threads(dataset)}, modules)


def _entry(project: Project, dataset: DatasetName) -> LocalisationWindows:
    return project.config.analysis(LocalisationSettings).dataset_entry(dataset)


def title_of_variant(project: Project, dataset: DatasetName, variant: VariantName) -> str:
    """The title of a variant's heat maps: its name, the data set of its training if another, and the data set."""
    trained_on = training_dataset(project, dataset)
    by = project.variant(trained_on, variant).title
    origin = "" if trained_on == dataset else f", trained on {project.datasets[trained_on].title}"
    return f"{by} ({variant}{origin}) on {project.datasets[dataset].title}"
