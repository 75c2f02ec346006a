"""HM-LSTM's pictures in the plan: the methods that have them."""

from densevse.config.values import DatasetName
from densevse.dag.tables import TableStage


class PhraseRegionStage(TableStage):
    """Pictures of methods (not of their variants) that represent phrases and regions, of the first seed."""

    def target_files(self, dataset: DatasetName) -> list[str]:
        """The pictures of each such method in a data set's main table."""
        pictures = []
        found = {name for name, entry in self.variants(dataset).items() if "phrases" in entry.yields}
        for name in self.config.method_entries().keys() & found:
            files = ["embedding.svg", "region_phrases.png"]
            files += ["correspondences.png"] if self.config.method_entries()[name].last_round else []
            pictures += [f"{self.results}/figures/{dataset}/{name}/{file}" for file in files]
        return sorted(pictures)
