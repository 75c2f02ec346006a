"""Vector arithmetic with images and words in the plan: its queries and its files."""

from densevse.analyses.arithmetic.settings import ArithmeticQueries, ArithmeticSettings
from densevse.dag.paths import Values
from densevse.dag.project import Stage


class ArithmeticStage(Stage):
    """Image - word + word (Kiros et al. 2014)."""

    def of(self, dataset: str) -> ArithmeticQueries:
        """The settings for a data set."""
        return self.config.analysis(ArithmeticSettings).of(dataset)

    def boxes(self, dataset: str) -> Values | None:
        """True if true boxes are read, which name objects: if words of these names are exchanged."""
        return {} if self.exchanged(dataset) else None

    def exchanged(self, dataset: str) -> dict[str, list[str]]:
        """The words of objects' names that replace each other, by kind, such as colour."""
        return self.of(dataset).exchanged

    def named(self, dataset: str) -> list[list[str]]:
        """The queries of the configuration."""
        return self.of(dataset).queries

    def title_of_table(self, dataset: str, variant: str) -> str:
        """The title of the table."""
        return f"Vector arithmetic: {self.variant(dataset, variant).title} on {self.title(dataset)}"
