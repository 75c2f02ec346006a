"""Plausible matches in the plan: the variants of a data set's main table."""

from densevse.config.values import DatasetName, VariantName
from densevse.dag.tables import TableStage
from densevse.dag.training import TrainingStage
from snakeproof.jobs import Job
from snakeproof.paths import Values


class PlausibleStage(TableStage):
    """PMRP of trained variants."""

    def measured_rounds(self, dataset: DatasetName) -> list[Values]:
        """The last round of each variant in the main table, of each seed."""
        return self.last_rounds(dataset, self.variants(dataset))

    def match_job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The measurement of a variant: the sentences that are ranked."""
        settings = {"ranked_sentences": self.dataset(dataset).sentences, "threads": self.threads(dataset)}
        return Job(settings, TrainingStage(self.project).modules(dataset, variant))

    def job(self, dataset: DatasetName) -> Job:
        """The table."""
        plan = self.plan_of_last_rounds(dataset, self.variants(dataset))
        return Job({"plan": plan.model_dump(mode="json")})
