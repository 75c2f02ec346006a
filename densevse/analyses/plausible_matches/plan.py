"""The plan of a table of plausible matches, passed from the DAG to the table's job."""

from pydantic import Field

from densevse.config.strict import Strict


class MatchedVariant(Strict):
    """A variant after its last round."""

    title: str
    seeds: list[int]
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    round: int


class PlausiblePlan(Strict):
    """A table of PMRP on the test split of a data set."""

    title: str
    dataset: str
    measured: dict[str, MatchedVariant]
