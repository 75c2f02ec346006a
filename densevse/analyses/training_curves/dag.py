"""Curves of training in the plan: the runs in a data set's picture."""

from densevse.config.methods import MethodConfig
from densevse.config.values import DatasetName, VariantName
from densevse.dag import tables
from densevse.dag.project import Project
from snakeproof.jobs import Job
from snakeproof.paths import Values


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """The picture, if anything is trained."""
    return [f"{project.results}/figures/{dataset}/training_curves.svg"] if _trained_variants(project, dataset) else []


def job(project: Project, dataset: DatasetName) -> Job:
    """The picture: the seeds of each variant, and the variant that each of its rounds is of."""
    seeds = project.datasets[dataset].seeds
    variants = {
        name: {
            "seeds": seeds,
            "val": None if entry.training == "none" else entry.training.validation_images,
            "rounds": [
                project.variant_round(dataset, name, seeds[0], n)["variant"] for n in range(entry.last_round + 1)
            ],
        }
        for name, entry in _trained_variants(project, dataset).items()
    }
    return Job({"title": project.datasets[dataset].title, "dataset": dataset, "variants": variants})


def histories(project: Project, dataset: DatasetName) -> list[Values]:
    """Every round of a data set's variants, of each seed."""
    return [
        project.variant_round(dataset, name, seed, number)
        for name, entry in _trained_variants(project, dataset).items()
        for seed in project.datasets[dataset].seeds
        for number in range(entry.last_round + 1)
    ]


def _trained_variants(project: Project, dataset: DatasetName) -> dict[VariantName, MethodConfig]:
    return {name: entry for name, entry in tables.variants(project, dataset).items() if not entry.is_untrained}
