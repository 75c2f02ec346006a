"""Perplexity in the plan: the variants with a decoder, and their table."""

from densevse.analyses.perplexity.plan import PerplexityPlan, has_decoder
from densevse.analyses.perplexity.settings import MeasuredDecoders, PerplexitySettings
from densevse.config.values import DatasetName
from densevse.dag import tables
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


def measured_rounds(project: Project, dataset: DatasetName) -> list[Values]:
    """The last round of each variant, of each seed, on the split. Raises `InputError` as `job` does."""
    entry = _entry(project, dataset)
    return [{**one, "split": entry.split} for one in tables.last_rounds(project, dataset, entry.variants)]


def job(project: Project, dataset: DatasetName) -> Job:
    """The table. Raises `InputError` if no variant is named, or for one without a decoder."""
    entry = _entry(project, dataset)
    rounds = tables.plan_of_last_rounds(project, dataset, entry.variants)
    plan = PerplexityPlan(title=rounds.title, dataset=dataset, measured=rounds.measured, split=entry.split)
    return Job({"plan": plan.model_dump(mode="json")})


def _entry(project: Project, dataset: DatasetName) -> MeasuredDecoders:
    entry, key = project.config.analysis(PerplexitySettings).dataset_entry(dataset), f"perplexity.{dataset}.variants"
    if not entry.variants:
        raise InputError(f"{key}: name the variants whose decoder is measured.")
    for name in entry.variants:
        if not has_decoder(project.variant(dataset, name).parameters):
            raise InputError(f"{key}: {name} trains no decoder, as its generation_weight is not above 0; remove it.")
    return entry
