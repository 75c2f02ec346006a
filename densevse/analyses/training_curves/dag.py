"""Curves of training in the plan: the runs in a data set's picture."""

from densevse.config.methods import MethodConfig
from densevse.config.values import DatasetName, VariantName
from densevse.dag.tables import TableStage
from snakeproof.jobs import Job
from snakeproof.paths import Values


class TrainingCurveStage(TableStage):
    """The history of each training of a data set's main table."""

    def target_files(self, dataset: DatasetName) -> list[str]:
        """The picture, if anything is trained."""
        return [f"{self.results}/figures/{dataset}/training_curves.svg"] if self._trained_variants(dataset) else []

    def job(self, dataset: DatasetName) -> Job:
        """The picture: the seeds of each variant, and the variant that each of its rounds is of."""
        seeds = self.dataset(dataset).seeds
        variants = {
            name: {
                "seeds": seeds,
                "val": None if entry.training == "none" else entry.training.validation_images,
                "rounds": [
                    self.variant_round(dataset, name, seeds[0], n)["variant"] for n in range(entry.last_round + 1)
                ],
            }
            for name, entry in self._trained_variants(dataset).items()
        }
        return Job({"title": self.title(dataset), "dataset": dataset, "variants": variants})

    def histories(self, dataset: DatasetName) -> list[Values]:
        """Every round of a data set's variants, of each seed."""
        return [
            self.variant_round(dataset, name, seed, number)
            for name, entry in self._trained_variants(dataset).items()
            for seed in self.dataset(dataset).seeds
            for number in range(entry.last_round + 1)
        ]

    def _trained_variants(self, dataset: DatasetName) -> dict[VariantName, MethodConfig]:
        return {name: entry for name, entry in self.variants(dataset).items() if not entry.is_untrained}
