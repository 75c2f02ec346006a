"""People's judgements of pairs: the data sets that have some, and the models that are held against them."""

from typing import Any

from densevse.analyses.human_judgements.settings import Settings
from densevse.dag.paths import Values
from densevse.dag.project import any_of
from densevse.dag.tables import Tables


class HumanJudgements(Tables):
    """Agreement of scores with people's judgements."""

    def judged(self) -> str:
        """The data sets whose judgements are known."""
        return any_of(name for name, entry in self.config.analysis(Settings).items() if entry.source)

    def source(self, dataset: str) -> str | Values:
        """The archive or folder that holds a data set's judgements: the user's own, or its name below resources/."""
        name, entry = self.config.analysis(Settings).of(dataset).source or "", self.dataset(dataset)
        return entry.local.get(name) or {"file": entry.sources[name].file}

    def measured(self, dataset: str) -> list[Values]:
        """The last round of each variant in a data set's main table, of each seed."""
        seeds = self.dataset(dataset).seeds
        return [self.last_round(dataset, name, seed) for name in self.variants(dataset) for seed in seeds]

    def settings_of_agreement(self, dataset: str) -> dict[str, Any]:
        """The settings that the table of agreement states."""
        seeds = self.dataset(dataset).seeds
        measured = {name: {"title": entry.title, "seeds": seeds} for name, entry in self.variants(dataset).items()}
        return {"title": self.title(dataset), "measured": measured}
