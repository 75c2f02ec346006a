"""The table of relations between words in the plan."""

from densevse.dag.jobs import Job
from densevse.dag.project import Stage


class RelationCountStage(Stage):
    """The number of relations between words of a data set."""

    def table_job(self, dataset: str) -> Job:
        """The title of the table."""
        return Job({"title": self.title(dataset)})
