"""Cross-fitting in the plan: the folds of a data set, and the scores that are put together from them."""

from densevse.analyses.cross_fitting.settings import CrossFittingSettings
from densevse.config.values import DatasetName
from densevse.dag.project import Project, Stage, name_pattern
from snakeproof.jobs import Job
from snakeproof.paths import Values


class CrossFittingStage(Stage):
    """The cross-fitted concepts of the data sets in the settings. Only a variant that reads them requests them."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._entries = project.config.analysis(CrossFittingSettings).root

    def datasets(self) -> str:
        """A pattern of the data sets in the settings."""
        return name_pattern(self._entries)

    def folds_job(self, dataset: DatasetName) -> Job:
        """The division of a data set's training images."""
        return Job({"folds": self._entries[dataset].folds})

    def fold_shards(self, dataset: DatasetName) -> list[Values]:
        """The shards of scores by each fold's head, fold after fold."""
        return [{**one, "fold": fold} for fold in range(self._entries[dataset].folds) for one in self.shards(dataset)]

    def networks(self, dataset: DatasetName) -> list[Values]:
        """The concept networks of the table."""
        return [{"concept_network": name} for name in self._entries[dataset].concept_networks]

    def table_job(self, dataset: DatasetName) -> Job:
        """The table, with the names of its concept networks."""
        return Job({"title": self.title(dataset), "networks": self._entries[dataset].concept_networks})
