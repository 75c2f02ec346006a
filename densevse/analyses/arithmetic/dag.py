"""Vector arithmetic with images and words: which is done, and where its results are."""

from densevse.dag.project import Stage, Wildcards

LINEAR = "vse_linear"
"""The variant whose sentences are sums of words."""


class Arithmetic(Stage):
    """Image - word + word (Kiros et al. 2014)."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The figure, and the table where objects' names are known."""
        figure = f"{self.results}/figures/{dataset}/{LINEAR}/arithmetic.png"
        table = f"{self.results}/tables/arithmetic_{dataset}_{LINEAR}.md"
        return [figure, *([table] if self.config.datasets[dataset].words_exchanged else [])]

    def boxes(self, wildcards: Wildcards) -> str | list[str]:
        """The true boxes, which say what objects are called, where words of their names are exchanged."""
        return f"{self.results}/{wildcards.dataset}/boxes.parquet" if self.exchanged(wildcards) else []

    def exchanged(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """Which words of objects' names are put for each other, by their kind."""
        return self.dataset(wildcards).words_exchanged

    def named(self, wildcards: Wildcards) -> list[list[str]]:
        """The queries of the configuration."""
        return self.dataset(wildcards).arithmetic_shown

    def found(self, wildcards: Wildcards) -> str:
        """The answers of the last round of a variant's first seed."""
        return f"{self.folder_of_round('arithmetic', wildcards.dataset, wildcards.variant)}/test.parquet"

    def title_of_table(self, wildcards: Wildcards) -> str:
        """The title of the table."""
        return f"Vector arithmetic: {self.variant(wildcards).title} on {self.title(wildcards)}"
