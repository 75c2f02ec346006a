"""Given rows in the plan: the user's files of scores or embeddings, and their layout."""

from collections.abc import Callable

from densevse.config.given import GivenFiles
from densevse.config.strict import DatasetName, VariantName
from densevse.dag.fields import LAYOUT, passed
from densevse.dag.jobs import Job
from densevse.dag.project import Stage


class GivenStage(Stage):
    """The rows of config/methods that are given."""

    def file(self, key: str) -> Callable[..., str | None]:
        """The file of a key, such as `scores`, for a seed; None if the row has no such file."""

        def file(dataset: DatasetName, variant: VariantName, seed: int) -> str | None:
            return self._of(dataset, variant).files(seed).get(key)

        return file

    def files(self, dataset: DatasetName, variant: VariantName, seed: int) -> list[str]:
        """All files of a seed."""
        return list(self._of(dataset, variant).files(seed).values())

    def job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The retrieval of a given row: the meaning of its files' rows and columns, and what is ranked."""
        return Job({"layout": passed(self._of(dataset, variant).layout, LAYOUT), **self.ranking(dataset)})

    def _of(self, dataset: DatasetName, variant: VariantName) -> GivenFiles:
        return self.config.given()[variant].on(dataset)
