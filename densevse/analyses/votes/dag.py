"""Ballots of learned correspondences and people's votes on them, in the plan (HM-LSTM, section 5.3.2)."""

import os

from densevse.analyses.votes.settings import VoteSettings, VotesOnDataset, VoteTablePlan
from densevse.config.values import DatasetName, VariantName
from densevse.dag import training
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


def correspondences(project: Project, dataset: DatasetName, variant: VariantName) -> Values:
    """The correspondences of a variant's first seed and last round. Raises `InputError` if it learns none."""
    if not project.variant(dataset, variant).last_round:
        learning = [name for name in project.config.variant_names() if project.variant(dataset, name).last_round]
        raise InputError(
            f"ballots: {variant} learns no correspondences on {dataset}; those that do are {', '.join(learning)}."
        )
    return training.last_correspondences(project, dataset, variant)


def votes_file(project: Project, dataset: DatasetName, variant: VariantName) -> str:
    """The user's file of votes on a variant's ballot.

    Raises `InputError` if there is none, or if it is the sheet that the workflow writes.
    """
    given = _settings(project, dataset).files
    if variant not in given:
        raise InputError(_missing_message(project, dataset, variant))
    if os.path.realpath(given[variant]) == os.path.realpath(_sheet_path(project, dataset, variant)):
        raise InputError(
            f"votes.{dataset}.files.{variant}: {given[variant]} is the workflow's own sheet, which it may "
            "overwrite. Move the sheet with its votes elsewhere, and name that file."
        )
    return given[variant]


def voted_variants(project: Project, dataset: DatasetName) -> list[Values]:
    """The variants with votes. Raises `InputError` if there are none."""
    return [{"variant": name} for name in _voted_names(project, dataset)]


def table_job(project: Project, dataset: DatasetName) -> Job:
    """The table of votes."""
    plan = VoteTablePlan(
        title=project.datasets[dataset].title,
        dataset=dataset,
        seed=project.first_seed(dataset),
        measured={name: project.variant(dataset, name).title for name in _voted_names(project, dataset)},
    )
    return Job({"plan": plan.model_dump(mode="json")})


def _settings(project: Project, dataset: DatasetName) -> VotesOnDataset:
    return project.config.analysis(VoteSettings).dataset_entry(dataset)


def _voted_names(project: Project, dataset: DatasetName) -> list[VariantName]:
    given = list(_settings(project, dataset).files)
    if not given:
        raise InputError(_missing_message(project, dataset, VariantName("hm_lstm")))
    return given


def _missing_message(project: Project, dataset: DatasetName, variant: VariantName) -> str:
    return (
        f"votes.{dataset}.files.{variant}: name a CSV file of people's votes, with the columns pair, voter, "
        f"correct. {project.results}/{dataset}/ballots/{variant}.html is the page with the pairs, and "
        f"{_sheet_path(project, dataset, variant)} a sheet for votes; run snakemake with the page as its target."
    )


def _sheet_path(project: Project, dataset: DatasetName, variant: VariantName) -> str:
    return f"{project.results}/{dataset}/ballots/{variant}.csv"
