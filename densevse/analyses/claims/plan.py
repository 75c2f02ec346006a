"""The plan of a table of claims: the contract between the DAG and the table's job."""

from pydantic import Field

from densevse.config.strict import Strict
from densevse.tables.plan import MeasuringPlan, SectionPlan


class ClaimPlan(Strict):
    """A claim, and the two measured rows of its section that test it."""

    paper: str = Field(description="the paper's name")
    title: str = Field(description="the claim in one sentence")
    place: str
    note: str | None = None
    metric: str
    better: str = Field(description="the row that is claimed to be better")
    worse: str
    least_gain: float = Field(default=0.0, description="that each seed must show before the claim is called supported")


class ClaimedSection(Strict):
    """Claims that are tested on a data set under one protocol with the same seeds."""

    section: SectionPlan
    claims: list[ClaimPlan]


class ClaimsPlan(MeasuringPlan):
    """A table of claims."""

    sections: list[ClaimedSection]
    question: str | None = Field(default=None, description="of a controlled experiment")
    conclusion: str | None = None
