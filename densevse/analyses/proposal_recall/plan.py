"""The plan of a table of proposers, passed from the DAG to the table's job."""

from pydantic import Field

from densevse.config.strict import Strict


class ProposalTablePlan(Strict):
    """A table of the proposers of a data set."""

    title: str
    dataset: str
    proposers: list[str] = Field(description="all whose recall it shows")
    timed: list[str] = Field(description="those whose times it shows")
