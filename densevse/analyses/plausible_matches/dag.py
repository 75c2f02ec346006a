"""Plausible matches in the plan: the variants of a data set's main table."""

from densevse.config.values import DatasetName
from densevse.dag import tables
from densevse.dag.project import Project
from snakeproof.jobs import Job


def job(project: Project, dataset: DatasetName) -> Job:
    """The table."""
    plan = tables.plan_of_last_rounds(project, dataset, tables.variants(project, dataset))
    return Job({"plan": plan.model_dump(mode="json")})
