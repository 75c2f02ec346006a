"""The synthetic data sets with needles in the plan."""

from densevse.analyses.needles.settings import NeedlesSettings
from densevse.dag.fields import whole
from densevse.dag.jobs import Job
from densevse.dag.project import Stage, any_of


class NeedlesStage(Stage):
    """The making of data sets with needles."""

    def names(self) -> str:
        """The names of the data sets."""
        return any_of(name for name, _ in self.config.analysis(NeedlesSettings).items())

    def job(self, needles: str) -> Job:
        """The settings of a data set."""
        return Job({"options": whole(self.config.analysis(NeedlesSettings).root[needles])})
