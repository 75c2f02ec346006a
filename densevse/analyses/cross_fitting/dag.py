"""Cross-fitting in the plan: the folds of a data set, and the scores that are put together from them."""

from densevse.analyses.cross_fitting.settings import CrossFitting, CrossFittingSettings
from densevse.config.values import DatasetName
from densevse.dag.project import Project, name_pattern
from snakeproof.jobs import Job
from snakeproof.paths import Values


def datasets(project: Project) -> str:
    """A pattern of the data sets in the settings."""
    return name_pattern(project.config.analysis(CrossFittingSettings).root)


def folds_job(project: Project, dataset: DatasetName) -> Job:
    """The division of a data set's training images."""
    return Job({"folds": _entry(project, dataset).folds})


def fold_shards(project: Project, dataset: DatasetName) -> list[Values]:
    """The shards of scores by each fold's head, fold after fold."""
    return [{**one, "fold": fold} for fold in range(_entry(project, dataset).folds) for one in project.shards(dataset)]


def networks(project: Project, dataset: DatasetName) -> list[Values]:
    """The concept networks of the table."""
    return [{"concept_network": name} for name in _entry(project, dataset).concept_networks]


def table_job(project: Project, dataset: DatasetName) -> Job:
    """The table, with the names of its concept networks."""
    return Job({"title": project.datasets[dataset].title, "networks": _entry(project, dataset).concept_networks})


def _entry(project: Project, dataset: DatasetName) -> CrossFitting:
    return project.config.analysis(CrossFittingSettings).root[dataset]
