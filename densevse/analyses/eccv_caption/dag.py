"""ECCV Caption and CxC in the plan: the measured retrievals, and the lists that they need."""

from densevse.analyses.eccv_caption.plan import LISTED, ExtendedTruthPlan
from densevse.config.environment import check_extra
from densevse.config.tables import SectionConfig
from densevse.config.values import DatasetName
from densevse.dag import tables
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


def measured_retrievals(project: Project, dataset: DatasetName) -> list[str | Values]:
    """The retrieval of each row, of each seed. Raises `InputError` as `job` does."""
    section = job(project, dataset).settings["plan"]["section"]
    return [
        tables.retrieval(project, dataset, section["protocol"], name, seed)
        for name, entry in section["measured"].items()
        for seed in entry["seeds"]
    ]


def job(project: Project, dataset: DatasetName) -> Job:
    """The table. Raises `InputError` if the package is not installed, or lists are too short."""
    check_extra("eccv_caption", extra="eccv-caption", needs=f"{project.results}/tables/{dataset}_eccv_caption.md")
    entry = project.datasets[dataset]
    if entry.top < LISTED:
        raise InputError(
            f"datasets.{dataset}.top: ECCV Caption is measured on the {LISTED} best candidates of each query, and "
            f"{entry.top} are listed; set it to {LISTED}."
        )
    section = tables.plan_section(
        project, SectionConfig(dataset=dataset, protocol="full"), tables.find_table(project, dataset).measure
    )
    plan = ExtendedTruthPlan(title=entry.title, section=section)
    return Job({"plan": plan.model_dump(mode="json")})
