"""Saliency: the methods that say what they attend to, and the pictures of it."""

from densevse.dag.paths import Values
from densevse.dag.tables import TableStage


class AttentionStage(TableStage):
    """The cells and words that a model attends to."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The pictures of each method (not of its variants) that attends, of the first seed."""
        names = sorted(self.config.trained().keys() & self.with_saliency(dataset).keys())
        files = ("saliency.png", "average_saliency.png")
        return [f"{self.results}/figures/{dataset}/{name}/{file}" for name in names for file in files]

    def of_two(self, dataset: str, variant: str, other: str) -> list[Values]:
        """The last rounds of the first seeds of two variants."""
        return [self.last_round(dataset, name) for name in (variant, other)]

    def titles_of_two(self, dataset: str, variant: str, other: str) -> list[str]:
        """Their titles."""
        return [self.project.variant(name, dataset).title for name in (variant, other)]
