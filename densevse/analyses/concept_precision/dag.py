"""Average precision of concepts in the plan: the concept network of a data set, and its files."""

from densevse.dag.datasets import DatasetStage
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.tables import TableStage


class ConceptPrecisionStage(TableStage):
    """The average precision of a data set's concepts."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The table and the picture, if a variant in the main table reads scores of concepts."""
        if not self.with_concepts(dataset):
            return []
        return [f"{self.results}/tables/{dataset}_concepts.md", f"{self.results}/figures/{dataset}/concepts.png"]

    def network(self, dataset: str) -> Values:
        """The concept network whose scores methods read."""
        return {"concept_network": self.dataset(dataset).networks["concepts"]}

    def scores(self, dataset: str) -> list[Values]:
        """The shards of its scores."""
        return self.shards(dataset, concept_network=self.dataset(dataset).networks["concepts"])

    def picture_job(self, dataset: str) -> Job:
        """The picture of the concepts that are predicted for images."""
        title = f"Concepts of images of {self.title(dataset)}, with their scores"
        return Job({"title": title, "source_names": DatasetStage(self.project).source_names(dataset)})

    def table_job(self, dataset: str) -> Job:
        """The table of concepts."""
        return Job({"title": self.title(dataset)})
