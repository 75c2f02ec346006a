"""HM-LSTM's pictures in the plan: the methods that have them."""

from densevse.config.values import DatasetName
from densevse.dag import tables
from densevse.dag.project import Project


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """The pictures of each such method in a data set's main table."""
    pictures = []
    found = {name for name, entry in tables.variants(project, dataset).items() if "phrases" in entry.yields}
    for name in project.config.method_entries().keys() & found:
        files = ["embedding.svg", "region_phrases.png"]
        files += ["correspondences.png"] if project.config.method_entries()[name].last_round else []
        pictures += [f"{project.results}/figures/{dataset}/{name}/{file}" for file in files]
    return sorted(pictures)
