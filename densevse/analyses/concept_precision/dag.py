"""Average precision of concepts in the plan: the concept network of a data set, and its files."""

from densevse.config.values import DatasetName
from densevse.dag import rows, tables
from densevse.dag.project import Project


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """The table and the picture, if a variant in the main table reads scores of concepts."""
    if not any(rows.reads_concepts(project, dataset, name) for name in tables.variants(project, dataset)):
        return []
    return [f"{project.results}/tables/{dataset}_concepts.md", f"{project.results}/figures/{dataset}/concepts.png"]
