"""Plausible matches in the plan: the variants of a data set's main table."""

from densevse.config.values import DatasetName, VariantName
from densevse.dag import tables, training
from densevse.dag.project import Project
from snakeproof.jobs import Job


def match_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The measurement of a variant: the sentences that are ranked."""
    settings = {"ranked_sentences": project.datasets[dataset].sentences, "threads": project.threads(dataset)}
    return Job(settings, training.modules(project, dataset, variant))


def job(project: Project, dataset: DatasetName) -> Job:
    """The table."""
    plan = tables.plan_of_last_rounds(project, dataset, tables.variants(project, dataset))
    return Job({"plan": plan.model_dump(mode="json")})
