"""Perplexity in the plan: the variants with a decoder, and their table."""

from densevse.analyses.perplexity.plan import PerplexityPlan, has_decoder
from densevse.analyses.perplexity.settings import MeasuredDecoders, PerplexitySettings
from densevse.config.values import DatasetName
from densevse.dag.tables import TableStage
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


class PerplexityStage(TableStage):
    """The table of perplexity of a data set. No other target requests it."""

    def measured_rounds(self, dataset: DatasetName) -> list[Values]:
        """The last round of each variant, of each seed, on the split. Raises `InputError` as `job` does."""
        entry = self._entry(dataset)
        return [{**one, "split": entry.split} for one in self.last_rounds(dataset, entry.variants)]

    def job(self, dataset: DatasetName) -> Job:
        """The table. Raises `InputError` if no variant is named, or for one without a decoder."""
        entry = self._entry(dataset)
        rounds = self.plan_of_last_rounds(dataset, entry.variants)
        plan = PerplexityPlan(title=rounds.title, dataset=dataset, measured=rounds.measured, split=entry.split)
        return Job({"plan": plan.model_dump(mode="json")})

    def _entry(self, dataset: DatasetName) -> MeasuredDecoders:
        entry, key = self.config.analysis(PerplexitySettings).dataset_entry(dataset), f"perplexity.{dataset}.variants"
        if not entry.variants:
            raise InputError(f"{key}: name the variants whose decoder is measured.")
        for name in entry.variants:
            if not has_decoder(self.variant(dataset, name).parameters):
                raise InputError(
                    f"{key}: {name} trains no decoder, as its generation_weight is not above 0; remove it."
                )
        return entry
