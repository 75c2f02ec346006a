"""Pictures of retrievals in the plan: one for each method, and SCO's variants side by side."""

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
    protocol = tables.first_protocol(project, dataset)
    return [{"protocol": protocol, **project.last_round(dataset, variant)} for variant in COMPARED]


def comparison_job(project: Project, dataset: DatasetName) -> Job:
    """The picture of the answers of the variants that SCO's Figure 4 compares."""
    shown = {
        project.variant(dataset, variant).title: Identity(dataset, split="test", **values)
        for variant, values in zip(COMPARED, compared_retrievals(project, dataset), strict=True)
    }
    title = f"The best sentences of images of {project.datasets[dataset].title}"
    return datasets.picture_job(project, dataset, title, shown)
