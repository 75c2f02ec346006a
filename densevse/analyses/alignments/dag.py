"""DeFrag's alignments in the plan: the variants that align regions with triplets, and their pictures."""

from densevse.analyses.alignments.settings import AlignmentSettings
from densevse.config.values import DatasetName, VariantName
from densevse.dag import tables, training
from densevse.dag.project import Project
from snakeproof.jobs import Job


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """The pictures of each variant that aligns and, if phrases have true boxes, its accuracy."""
    wanted = []
    for name, entry in tables.variants(project, dataset).items():
        if "triplets" in entry.sentences and "regions" in entry.views:
            folder = f"{project.results}/figures/{dataset}/{name}"
            wanted += [f"{folder}/alignments.png", f"{folder}/triplet_regions.png"]
            if project.datasets[dataset].phrases_have_boxes:
                last = project.artifact_folder("alignments", dataset, project.last_round(dataset, name))
                wanted += [f"{last}/accuracy.parquet"]
    return wanted


def job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The alignments of a variant, with the triplets whose regions are shown besides those of frequent ones."""
    triplets = project.config.analysis(AlignmentSettings).dataset_entry(dataset).triplets
    settings = {"triplets": triplets, "threads": project.threads(dataset)}
    return Job(settings, training.modules(project, dataset, variant))
