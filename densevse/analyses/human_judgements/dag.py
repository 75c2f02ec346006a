"""People's judgements of pairs in the plan: the data sets that have them, and the models compared with them."""

from densevse.analyses.human_judgements.settings import (
    AgreementPlan,
    JudgedVariant,
    JudgementSettings,
    JudgementsSource,
)
from densevse.config.values import DatasetName, VariantName
from densevse.dag import rows, tables
from densevse.dag.project import Project
from snakeproof.jobs import Job
from snakeproof.paths import Values


def source(project: Project, dataset: DatasetName) -> str | Values:
    """The archive or folder of a data set's judgements: the user's own, or its name below resources/."""
    name, entry = _settings(project, dataset).source or "", project.datasets[dataset]
    return entry.local.get(name) or {"file": entry.sources[name].file}


def given_rows(project: Project, dataset: DatasetName) -> list[Values]:
    """Each given row in a data set's main table, of each seed."""
    return [{"variant": name, "seed": seed} for name, seeds in _given_seeds(project, dataset).items() for seed in seeds]


def scored_rows(project: Project, dataset: DatasetName) -> list[Values]:
    """Each row that scores the judged pairs alone, of each seed."""
    rows = _settings(project, dataset).scored
    return [{"variant": name, "seed": seed} for name, row in rows.items() for seed in range(len(row.scores))]


def scores_file(project: Project, dataset: DatasetName, variant: VariantName, seed: int) -> str:
    """The file of one seed of a row that scores the judged pairs alone."""
    return _settings(project, dataset).scored[variant].scores[seed]


def _settings(project: Project, dataset: DatasetName) -> JudgementsSource:
    return project.config.analysis(JudgementSettings).dataset_entry(dataset)


def _given_seeds(project: Project, dataset: DatasetName) -> dict[VariantName, list[int]]:
    """Each given row in a data set's main table, with its seeds."""
    rows = {
        name: row
        for name, row in project.config.given_rows().items()
        if name in tables.find_table(project, dataset).measure
    }
    return {name: row.dataset_files(dataset).seeds for name, row in rows.items()}


def job(project: Project, dataset: DatasetName) -> Job:
    """The table of agreement."""
    rounds = tables.plan_of_last_rounds(project, dataset, tables.variants(project, dataset)).measured
    measured = {name: JudgedVariant(**entry.model_dump()) for name, entry in rounds.items()}
    for name, seeds in _given_seeds(project, dataset).items():
        measured[name] = JudgedVariant(
            title=rows.row_title(project, dataset, name), seeds=seeds, model=name, round=None
        )
    for name, row in _settings(project, dataset).scored.items():
        own = list(range(len(row.scores)))
        measured[name] = JudgedVariant(title=row.title or name, seeds=own, model=name, round=None, judged_only=True)
    plan = AgreementPlan(title=project.datasets[dataset].title, dataset=dataset, measured=measured)
    return Job({"plan": plan.model_dump(mode="json")})
