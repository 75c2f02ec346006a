"""Saliency in the plan: the methods with attention, and its pictures."""

from densevse.artifacts.identity import Identity
from densevse.config.values import DatasetName, VariantName
from densevse.dag.datasets import DatasetStage
from densevse.dag.tables import TableStage
from snakeproof.jobs import Job


class AttentionStage(TableStage):
    """The places and words to which a model attends."""

    def target_files(self, dataset: DatasetName) -> list[str]:
        """The pictures of each method (not of its variants) with attention, for the first seed."""
        found = {name for name, entry in self.variants(dataset).items() if "saliency" in entry.yields}
        names = sorted(self.config.method_entries().keys() & found)
        files = ("saliency.png", "average_saliency.png")
        return [f"{self.results}/figures/{dataset}/{name}/{file}" for name in names for file in files]

    def job(self, dataset: DatasetName, variant: VariantName, other: VariantName | None = None) -> Job:
        """The pictures of a variant, or the picture of two."""
        shown = {
            self.variant(dataset, name).title: Identity(dataset, split="test", **self.last_round(dataset, name))
            for name in ([variant, other] if other else [variant])
        }
        title = self.title(dataset) if other else self.title_of_variant(dataset, variant)
        return DatasetStage(self.project).picture_job(dataset, title, shown)
