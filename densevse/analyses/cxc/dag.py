"""CxC in the plan: the files of its judgements, and the models that are compared with them."""

from densevse.analyses.cxc.settings import Crisscrossed, CxcSettings
from densevse.config.values import DatasetName
from densevse.dag import tables
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


def files(project: Project, dataset: DatasetName) -> list[str]:
    """The files of judgements. Raises `InputError` if none are named."""
    return _entry(project, dataset).files()


def measured_rounds(project: Project, dataset: DatasetName) -> list[Values]:
    """The last round of each variant, of each seed. Raises `InputError` if none is named."""
    return tables.last_rounds(project, dataset, _entry(project, dataset).measure)


def job(project: Project, dataset: DatasetName) -> Job:
    """The table."""
    plan = tables.plan_of_last_rounds(project, dataset, _entry(project, dataset).measure)
    return Job({"plan": plan.model_dump(mode="json")})


def _entry(project: Project, dataset: DatasetName) -> Crisscrossed:
    entry = project.config.analysis(CxcSettings).dataset_entry(dataset)
    if not entry.folder or not entry.measure:
        raise InputError(
            f"cxc.{dataset}: name the folder of CxC's files as `folder`, and the variants to compare as `measure`."
        )
    return entry
