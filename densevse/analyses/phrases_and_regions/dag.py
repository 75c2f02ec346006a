"""HM-LSTM's pictures in the plan: the methods that have them."""

from densevse.dag.tables import TableStage


class PhraseRegionStage(TableStage):
    """Pictures of methods (not of their variants) that represent phrases and regions, of the first seed."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The pictures of each such method in a data set's main table."""
        pictures = []
        for name in self.config.trained().keys() & self.with_phrases(dataset).keys():
            files = ["embedding.svg", "region_phrases.png"]
            files += ["correspondences.png"] if self.config.trained()[name].last_round else []
            pictures += [f"{self.results}/figures/{dataset}/{name}/{file}" for file in files]
        return sorted(pictures)
