"""Curves of training: the runs that a data set's picture shows."""

from densevse.dag.tables import Tables


class TrainingCurves(Tables):
    """The history of each training of a data set's main table."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The picture."""
        return [f"{self.results}/figures/{dataset}/training_curves.svg"]

    def runs(self, dataset: str) -> dict[str, list[list[str]]]:
        """Variant -> for each seed the histories of its rounds."""
        return {
            name: [
                [
                    f"{self.folder_of('models', dataset, self.round_of(dataset, name, seed, number))}/history.parquet"
                    for number in range(entry.last_round + 1)
                ]
                for seed in self.dataset(dataset).seeds
            ]
            for name, entry in self.variants(dataset).items()
        }

    def histories(self, dataset: str) -> list[str]:
        """All histories of a data set's variants."""
        return [path for runs in self.runs(dataset).values() for run in runs for path in run]
