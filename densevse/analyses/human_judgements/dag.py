"""People's judgements of pairs in the plan: the data sets that have them, and the models compared with them."""

from densevse.analyses.human_judgements.settings import (
    AgreementPlan,
    JudgedVariant,
    JudgementSettings,
    JudgementsSource,
)
from densevse.config.values import DatasetName, VariantName
from densevse.dag.tables import TableStage
from snakeproof.jobs import Job
from snakeproof.paths import Values


class JudgementStage(TableStage):
    """Agreement of scores with people's judgements."""

    def source(self, dataset: DatasetName) -> str | Values:
        """The archive or folder of a data set's judgements: the user's own, or its name below resources/."""
        name, entry = self._settings(dataset).source or "", self.dataset(dataset)
        return entry.local.get(name) or {"file": entry.sources[name].file}

    def measured_rounds(self, dataset: DatasetName) -> list[Values]:
        """The last round of each variant in a data set's main table, of each seed."""
        return self.last_rounds(dataset, self.variants(dataset))

    def given_rows(self, dataset: DatasetName) -> list[Values]:
        """Each given row in a data set's main table, of each seed."""
        return [{"variant": name, "seed": seed} for name, seeds in self._given_seeds(dataset).items() for seed in seeds]

    def scored_rows(self, dataset: DatasetName) -> list[Values]:
        """Each row that scores the judged pairs alone, of each seed."""
        rows = self._settings(dataset).scored
        return [{"variant": name, "seed": seed} for name, row in rows.items() for seed in range(len(row.scores))]

    def scores_file(self, dataset: DatasetName, variant: VariantName, seed: int) -> str:
        """The file of one seed of a row that scores the judged pairs alone."""
        return self._settings(dataset).scored[variant].scores[seed]

    def _settings(self, dataset: DatasetName) -> JudgementsSource:
        return self.config.analysis(JudgementSettings).dataset_entry(dataset)

    def _given_seeds(self, dataset: DatasetName) -> dict[VariantName, list[int]]:
        """Each given row in a data set's main table, with its seeds."""
        rows = {name: row for name, row in self.config.given_rows().items() if name in self.table(dataset).measure}
        return {name: row.dataset_files(dataset).seeds for name, row in rows.items()}

    def job(self, dataset: DatasetName) -> Job:
        """The table of agreement."""
        measured: dict[str, JudgedVariant] = {}
        for name, entry in self.variants(dataset).items():
            own, last = self.dataset(dataset).seeds, self.last_round(dataset, name)
            measured[name] = JudgedVariant(title=entry.title, seeds=own, model=last["variant"], round=last["round"])
        for name, seeds in self._given_seeds(dataset).items():
            measured[name] = JudgedVariant(
                title=self.rows.row_title(dataset, name), seeds=seeds, model=name, round=None
            )
        for name, row in self._settings(dataset).scored.items():
            own = list(range(len(row.scores)))
            measured[name] = JudgedVariant(title=row.title or name, seeds=own, model=name, round=None, judged_only=True)
        plan = AgreementPlan(title=self.title(dataset), dataset=dataset, measured=measured)
        return Job({"plan": plan.model_dump(mode="json")})
