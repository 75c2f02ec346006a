"""HM-LSTM's pictures in the plan: the methods that have them."""

from densevse.config.strict import DatasetName, VariantName
from densevse.dag.datasets import DatasetStage
from densevse.dag.jobs import Job
from densevse.dag.tables import TableStage


class PhraseRegionStage(TableStage):
    """Pictures of methods (not of their variants) that represent phrases and regions, of the first seed."""

    def of_dataset(self, dataset: DatasetName) -> list[str]:
        """The pictures of each such method in a data set's main table."""
        pictures = []
        found = {name for name, entry in self.variants(dataset).items() if "phrases" in entry.yields}
        for name in self.config.trained().keys() & found:
            files = ["embedding.svg", "region_phrases.png"]
            files += ["correspondences.png"] if self.config.trained()[name].last_round else []
            pictures += [f"{self.results}/figures/{dataset}/{name}/{file}" for file in files]
        return sorted(pictures)

    def figure_job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The names of a data set's sources, and the title of a variant's figures."""
        sources = DatasetStage(self.project).source_names(dataset)
        return Job({"source_names": sources, "title": self.title_of_variant(dataset, variant)})
