"""Vector arithmetic with images and words in the plan: its queries and its files."""

from densevse.analyses.arithmetic.settings import ArithmeticSettings
from densevse.dag.datasets import DatasetStage
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.project import Stage


class ArithmeticStage(Stage):
    """Image - word + word (Kiros et al. 2014)."""

    def boxes(self, dataset: str) -> Values | None:
        """No further values if true boxes are read, which name objects: if words of these names are exchanged."""
        return {} if self.config.analysis(ArithmeticSettings).of(dataset).exchanged else None

    def job(self, dataset: str) -> Job:
        """The queries of a data set: the words that replace each other, by kind such as colour, and the named ones."""
        entry = self.config.analysis(ArithmeticSettings).of(dataset)
        return Job({"exchanged": entry.exchanged, "named": entry.queries})

    def table_job(self, dataset: str, variant: str) -> Job:
        """The table of a variant."""
        return Job({"title": f"Vector arithmetic: {self.variant(dataset, variant).title} on {self.title(dataset)}"})

    def figure_job(self, dataset: str, variant: str) -> Job:
        """The picture of a variant's answers."""
        names = DatasetStage(self.project).source_names(dataset)
        return Job({"source_names": names, "title": self.title_of_variant(dataset, variant)})
