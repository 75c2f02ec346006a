"""Pictures of retrievals in the plan: one for each method, and several rows side by side."""

from collections.abc import Iterable

from densevse.artifacts.identity import Identity
from densevse.config.values import DatasetName, VariantName
from densevse.dag import datasets, tables
from densevse.dag.project import Project
from snakeproof.jobs import Job
from snakeproof.paths import Values

COMPARED = tuple(map(VariantName, ("sco_ctx", "sco_cnp_ctx", "sco")))
"""The variants side by side in SCO's Figure 4."""


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """A picture for each method in a data set's main table, not for its variants."""
    methods = sorted(project.config.method_entries().keys() & tables.variants(project, dataset).keys())
    return [f"{project.results}/figures/{dataset}/examples/{name}.png" for name in methods]


def compared_retrievals(project: Project, dataset: DatasetName) -> list[Values]:
    """The retrieval of each variant that SCO's Figure 4 compares: the last round of its first seed."""
    return [tables.last_retrieval(project, dataset, name) for name in COMPARED]


def comparison_job(project: Project, dataset: DatasetName) -> Job:
    """The picture of the answers of the variants that SCO's Figure 4 compares."""
    return _answers_job(project, dataset, COMPARED, "The best sentences of images of {}")


def main_retrievals(project: Project, dataset: DatasetName) -> list[Values]:
    """The retrieval of each row that a data set's main table measures: the last round of its first seed."""
    return [tables.last_retrieval(project, dataset, name) for name in tables.variants(project, dataset)]


def one_query_job(project: Project, dataset: DatasetName) -> Job:
    """The picture of the answers of the main table's rows to one sentence."""
    return _answers_job(project, dataset, tables.variants(project, dataset), "A sentence of {}, and its best images")


def _answers_job(project: Project, dataset: DatasetName, names: Iterable[VariantName], title: str) -> Job:
    shown = {
        project.variant(dataset, name).title: Identity(
            dataset, split="test", **tables.last_retrieval(project, dataset, name)
        )
        for name in names
    }
    return datasets.picture_job(project, dataset, title.format(project.datasets[dataset].title), shown)
