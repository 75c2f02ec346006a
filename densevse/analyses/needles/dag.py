"""The synthetic data sets with needles in the plan."""

from typing import Any

from densevse.analyses.needles.settings import NeedlesSettings
from densevse.dag.project import Stage, any_of


class NeedlesStage(Stage):
    """The making of data sets with needles."""

    def names(self) -> str:
        """The names of the data sets."""
        return any_of(name for name, _ in self.config.analysis(NeedlesSettings).items())

    def options(self, needles: str) -> dict[str, Any]:
        """The settings of a data set."""
        return self.config.analysis(NeedlesSettings).root[needles].model_dump(mode="json")
