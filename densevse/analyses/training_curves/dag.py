"""Curves of training in the plan: the runs in a data set's picture."""

from densevse.analyses.training_curves.plan import CurvePlan, CurvesPlan
from densevse.config.methods import MethodConfig
from densevse.dag.paths import Values
from densevse.dag.tables import TableStage


class TrainingCurveStage(TableStage):
    """The history of each training of a data set's main table."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The picture, if anything is trained."""
        return [f"{self.results}/figures/{dataset}/training_curves.svg"] if self._trained_variants(dataset) else []

    def plan_of_curves(self, dataset: str) -> CurvesPlan:
        """The plan of the picture."""
        variants = {
            name: self._curve(dataset, name, entry.last_round)
            for name, entry in self._trained_variants(dataset).items()
        }
        return CurvesPlan(title=self.title(dataset), dataset=dataset, variants=variants)

    def _trained_variants(self, dataset: str) -> dict[str, MethodConfig]:
        return {name: entry for name, entry in self.variants(dataset).items() if not entry.untrained}

    def _curve(self, dataset: str, name: str, last: int) -> CurvePlan:
        seeds = self.dataset(dataset).seeds
        rounds = [self.round_of(dataset, name, seeds[0], number)["variant"] for number in range(last + 1)]
        return CurvePlan(seeds=seeds, rounds=rounds)

    def histories(self, dataset: str) -> list[Values]:
        """Every round of a data set's variants, of each seed."""
        return [
            self.round_of(dataset, name, seed, number)
            for name, entry in self._trained_variants(dataset).items()
            for seed in self.dataset(dataset).seeds
            for number in range(entry.last_round + 1)
        ]
