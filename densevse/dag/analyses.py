"""The analyses whose rules are included; each adds itself in its rule file."""

from typing import TypeVar

from densevse.dag.project import Stage

Analysis = TypeVar("Analysis", bound=Stage)


class Analyses:
    """The stages of all included analyses."""

    def __init__(self) -> None:
        self._stages: list[Stage] = []

    def add(self, stage: Analysis) -> Analysis:
        """Add an analysis's stage, and return it."""
        self._stages.append(stage)
        return stage

    def of_dataset(self, dataset: str) -> list[str]:
        """The files of a data set that `rule all` asks for, of every analysis."""
        return [file for stage in self._stages for file in stage.of_dataset(dataset)]
