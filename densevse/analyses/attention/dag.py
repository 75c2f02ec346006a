"""Saliency in the plan: the methods with attention, and its pictures."""

from densevse.artifacts.identity import Identity
from densevse.config.values import DatasetName, VariantName
from densevse.dag import datasets, tables
from densevse.dag.project import Project
from snakeproof.jobs import Job


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """The pictures of each method (not of its variants) with attention, for the first seed."""
    found = {name for name, entry in tables.variants(project, dataset).items() if "saliency" in entry.yields}
    names = sorted(project.config.method_entries().keys() & found)
    files = ("saliency.png", "average_saliency.png")
    return [f"{project.results}/figures/{dataset}/{name}/{file}" for name in names for file in files]


def job(project: Project, dataset: DatasetName, variant: VariantName, other: VariantName | None = None) -> Job:
    """The pictures of a variant, or the picture of two."""
    shown = {
        project.variant(dataset, name).title: Identity(dataset, split="test", **project.last_round(dataset, name))
        for name in ([variant, other] if other else [variant])
    }
    title = project.datasets[dataset].title if other else project.title_of_variant(dataset, variant)
    return datasets.picture_job(project, dataset, title, shown)
