"""Tables of results: which rows they have, and from which artifacts."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from densevse.plan.project import Stage, Wildcards
from densevse.plan.training import Training
from densevse.settings.load import compared, variant
from densevse.settings.model import Method, Network


class Tables(Stage):
    """Tables of results, of rounds, and of regions and phrases."""

    def of_dataset(self, dataset: str) -> list[str]:
        """Every table of a data set."""
        names = list(self.config.datasets[dataset].tables)
        names += [f"{dataset}_rounds"] if self.with_rounds(dataset) else []
        return [f"{self.results}/tables/{name}.md" for name in names]

    def of_regions(self, dataset: str) -> list[str]:
        """The table of region-phrase ranking, where a data set's phrases have true boxes and a method has phrases."""
        possible = self.phrases_have_boxes(dataset) and self.with_phrases(dataset)
        return [f"{self.results}/tables/{dataset}_regions.md"] if possible else []

    def datasets(self) -> dict[str, str]:
        """Table -> its data set."""
        return {table: dataset for dataset, entry in self.config.datasets.items() for table in entry.tables}

    def published(self) -> list[str]:
        """The files of published rows."""
        return [self.project.packaged(f"config/published/{file.name}") for file in self._published_files()]

    def variants(self, dataset: str) -> dict[str, Method]:
        """Variant -> its settings on a data set, for those in its tables."""
        return {name: variant(self.config, name, dataset) for name in compared(self.config, dataset)}

    def with_rounds(self, dataset: str) -> dict[str, Method]:
        """The variants in a data set's tables that learn correspondences."""
        return {name: entry for name, entry in self.variants(dataset).items() if entry.rounds}

    def with_phrases(self, dataset: str) -> dict[str, Method]:
        """The variants in a data set's tables that represent phrases and regions."""
        return {name: entry for name, entry in self.variants(dataset).items() if entry.model == "hm_lstm"}

    def phrases_have_boxes(self, dataset: str) -> bool:
        """Whether a data set's phrases have true boxes."""
        entry = self.config.datasets[dataset]
        return entry.reader == "scenes" or entry.boxes is not None

    def retrievals(self, wildcards: Wildcards) -> list[str]:
        """The last round of every variant and seed."""
        dataset = self.datasets()[wildcards.table]
        last = {name: [entry.rounds] for name, entry in self.variants(dataset).items()}
        return self._retrievals(dataset, self.config.datasets[dataset].tables[wildcards.table].protocol, last)

    def images(self, wildcards: Wildcards) -> str:
        """The image table of a table's data set."""
        return f"{self.results}/{self.datasets()[wildcards.table]}/images.parquet"

    def captions(self, wildcards: Wildcards) -> str:
        """The caption table of a table's data set."""
        return f"{self.results}/{self.datasets()[wildcards.table]}/captions.parquet"

    def settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a table says of its making: no shards and no folders, on which no result depends."""
        dataset = self.config.datasets[self.datasets()[wildcards.table]]
        entries = self.variants(self.datasets()[wildcards.table])
        described = {"title", "reader", "options", "networks", "proposer", "parser", "word_vectors"}
        described |= {"minimum_word_count"}
        names = {name for entry in entries.values() for name in {**dataset.networks, **entry.networks}.values()}
        return {
            **dataset.tables[wildcards.table].model_dump(mode="json"),
            "dataset": dataset.model_dump(mode="json", include=described),
            "variants": {name: entry.model_dump(mode="json") for name, entry in entries.items()},
            "networks": {name: _described(self.config.networks[name]) for name in sorted(names)},
            "measured": dict.fromkeys(entries, dataset.seeds),
        }

    def first_protocol(self, dataset: str) -> str:
        """The protocol of a data set's first table, for what is shown once a data set."""
        return next(iter(self.config.datasets[dataset].tables.values())).protocol

    def retrievals_of_rounds(self, wildcards: Wildcards) -> list[str]:
        """Every round of the variants that learn correspondences."""
        rounds = {name: range(entry.rounds + 1) for name, entry in self.with_rounds(wildcards.dataset).items()}
        return self._retrievals(wildcards.dataset, self.first_protocol(wildcards.dataset), rounds)

    def accuracies_of_rounds(self, wildcards: Wildcards) -> list[str]:
        """Where phrases have true boxes, how right each round's correspondences are."""
        if not self.phrases_have_boxes(wildcards.dataset):
            return []
        return [
            f"{Training(self.project).run(wildcards.dataset, name, seed)}/round{number}/correspondence_accuracy.parquet"
            for name, entry in self.with_rounds(wildcards.dataset).items()
            for number in range(1, entry.rounds + 1)
            for seed in self.dataset(wildcards).seeds
        ]

    def settings_of_rounds(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the table of rounds says of its making."""
        entries = self.with_rounds(wildcards.dataset)
        return {
            "title": f"{self.title(wildcards)}: what each round gained",
            "rounds": {name: entry.rounds for name, entry in entries.items()},
            "titles": {name: entry.title for name, entry in entries.items()},
            "seeds": self.dataset(wildcards).seeds,
        }

    def true_regions(self, wildcards: Wildcards) -> str:
        """The features of true boxes by the network of the variant's regions."""
        network = {**self.dataset(wildcards).networks, **self.variant(wildcards).networks}["regions"]
        return f"{self.results}/{wildcards.dataset}/features/{network}/regions-true/test.parquet"

    def region_rankings(self, wildcards: Wildcards) -> list[str]:
        """The last round of every variant that has phrases, and every seed."""
        return [
            f"{self.results}/{wildcards.dataset}/region_ranking/{name}/seed{seed}/round{entry.rounds}.parquet"
            for name, entry in self.with_phrases(wildcards.dataset).items()
            for seed in self.dataset(wildcards).seeds
        ]

    def settings_of_regions(self, wildcards: Wildcards) -> dict[str, Any]:
        """What the table of regions and phrases says of its making."""
        titles = {name: entry.title for name, entry in self.with_phrases(wildcards.dataset).items()}
        return {"title": self.title(wildcards), "titles": titles, "seeds": self.dataset(wildcards).seeds}

    def _retrievals(self, dataset: str, protocol: str, rounds: Mapping[str, Iterable[int]]) -> list[str]:
        """RETRIEVAL artifacts by variant, then round, then seed, for `rounds`: variant -> which of its rounds."""
        return [
            f"{self.results}/{dataset}/retrieval/{protocol}/{name}/seed{seed}/round{number}.parquet"
            for name, numbers in rounds.items()
            for number in numbers
            for seed in self.config.datasets[dataset].seeds
        ]

    def _published_files(self) -> list[Path]:
        return sorted((self.project.root / "config/published").glob("*.csv"))


def _described(network: Network) -> dict[str, Any]:
    local = {"local": Path(network.local).name} if network.local else {}
    return {**network.model_dump(mode="json"), **local}
