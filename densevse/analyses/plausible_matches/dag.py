"""Plausible matches in the plan: the variants of a data set's main table."""

from densevse.analyses.plausible_matches.plan import MatchedVariant, PlausiblePlan
from densevse.config.strict import DatasetName, VariantName
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.tables import TableStage
from densevse.dag.training import TrainingStage


class PlausibleStage(TableStage):
    """PMRP of trained variants."""

    def measured(self, dataset: DatasetName) -> list[Values]:
        """The last round of each variant in the main table, of each seed."""
        seeds = self.dataset(dataset).seeds
        return [self.last_round(dataset, name, seed) for name in self.variants(dataset) for seed in seeds]

    def match_job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The measurement of a variant: the sentences that are ranked."""
        settings = {"ranked_sentences": self.dataset(dataset).sentences, "threads": self.threads(dataset)}
        return Job(settings, TrainingStage(self.project).modules(dataset, variant))

    def job(self, dataset: DatasetName) -> Job:
        """The table."""
        measured: dict[str, MatchedVariant] = {}
        for name, entry in self.variants(dataset).items():
            last, seeds = self.last_round(dataset, name), self.dataset(dataset).seeds
            measured[name] = MatchedVariant(title=entry.title, seeds=seeds, model=last["variant"], round=last["round"])
        plan = PlausiblePlan(title=self.title(dataset), dataset=dataset, measured=measured)
        return Job({"plan": plan.model_dump(mode="json")})
