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


class PoolPlan(Strict):
    """Resplits of one data set under one protocol, over which claims have means."""

    section: SectionPlan = Field(
        description="the rows of all resplits, under the name of the data set that they divide"
    )
    resplits: list[str] = Field(description="the data sets of the resplits")
    train: int = Field(description="images of each resplit's split train")
    test: int = Field(description="images of each resplit's split test")


class ClaimsPlan(MeasuringPlan):
    """A table of claims."""

    sections: list[ClaimedSection]
    pools: list[PoolPlan] = Field(default=[], description="of an experiment on resplits")
    question: str | None = Field(default=None, description="of a controlled experiment")
    conclusion: str | None = None
