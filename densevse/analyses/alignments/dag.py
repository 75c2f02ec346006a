"""DeFrag's alignments in the plan: the variants that align regions with triplets, and their pictures."""

from densevse.analyses.alignments.settings import AlignmentSettings
from densevse.config.values import DatasetName, VariantName
from densevse.dag.tables import TableStage
from densevse.dag.training import TrainingStage
from snakeproof.jobs import Job


class AlignmentStage(TableStage):
    """Alignments of regions with triplets."""

    def target_files(self, dataset: DatasetName) -> list[str]:
        """The pictures of each variant that aligns and, if phrases have true boxes, its accuracy."""
        wanted = []
        for name, entry in self.variants(dataset).items():
            if "triplets" in entry.sentences and "regions" in entry.views:
                folder = f"{self.results}/figures/{dataset}/{name}"
                wanted += [f"{folder}/alignments.png", f"{folder}/triplet_regions.png"]
                if self.dataset(dataset).phrases_have_boxes:
                    last = self.artifact_folder("alignments", dataset, self.last_round(dataset, name))
                    wanted += [f"{last}/accuracy.parquet"]
        return wanted

    def job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The alignments of a variant, with the triplets whose regions are shown besides those of frequent ones."""
        triplets = self.config.analysis(AlignmentSettings).dataset_entry(dataset).triplets
        settings = {"triplets": triplets, "threads": self.threads(dataset)}
        return Job(settings, TrainingStage(self.project).modules(dataset, variant))
