"""The plan of a table of votes on correspondences, passed from the DAG to the table's job."""

from pydantic import Field

from densevse.config.strict import Strict


class VoteTablePlan(Strict):
    """A table of votes on correspondences that variants learned on a data set."""

    title: str
    dataset: str
    seed: int = Field(description="of the models whose correspondences are voted on")
    measured: dict[str, str] = Field(description="variant -> its title")
