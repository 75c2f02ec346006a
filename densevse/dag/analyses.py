"""The analyses whose rules are included; each rule file adds its own."""

from collections.abc import Callable
from typing import TypeVar

from densevse.config.strict import DatasetName
from densevse.dag.jobs import Job
from densevse.dag.paths import Values
from densevse.dag.project import Stage

Analysis = TypeVar("Analysis", bound=Stage)


class Analyses:
    """The stages of all included analyses."""

    def __init__(self) -> None:
        self._stages: list[Stage] = []

    def add(self, stage: Analysis) -> Analysis:
        """Adds an analysis's stage, and returns it."""
        self._stages.append(stage)
        return stage

    def list_with(self, tables: Stage) -> Callable[[DatasetName], Job]:
        """A function that returns the job that lists a data set's files of tables and of every analysis, by name."""

        def listing(dataset: DatasetName) -> Job:
            files = [values["file"] for values in [*tables.listed(dataset), *self.listed(dataset)]]
            return Job({"title": tables.title(dataset), "files": sorted(files)})

        return listing

    def listed(self, dataset: DatasetName) -> list[Values]:
        """The files of a data set's target from every analysis, as values of paths."""
        return [values for stage in self._stages for values in stage.listed(dataset)]
