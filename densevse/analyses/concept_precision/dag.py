"""Average precision of concepts in the plan: the concept network of a data set, and its files."""

from densevse.config.values import DatasetName
from densevse.dag.tables import TableStage


class ConceptPrecisionStage(TableStage):
    """The average precision of a data set's concepts."""

    def target_files(self, dataset: DatasetName) -> list[str]:
        """The table and the picture, if a variant in the main table reads scores of concepts."""
        if not any(self.rows.reads_concepts(dataset, name) for name in self.variants(dataset)):
            return []
        return [f"{self.results}/tables/{dataset}_concepts.md", f"{self.results}/figures/{dataset}/concepts.png"]
