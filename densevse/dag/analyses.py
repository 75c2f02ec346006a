"""The analyses whose rules are included; each rule file adds its own."""

from collections.abc import Callable
from typing import TypeVar

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

    def files_with(self, stage: Stage) -> Callable[[str], list[str]]:
        """A function that gives a data set's files of every analysis and of another stage, by name."""

        def files(dataset: str) -> list[str]:
            return sorted(values["file"] for values in [*stage.listed(dataset), *self.listed(dataset)])

        return files

    def listed(self, dataset: str) -> list[Values]:
        """The files of a data set's target from every analysis, as values of paths."""
        return [values for stage in self._stages for values in stage.listed(dataset)]
