"""The plan of a table of agreement with people, passed from the DAG to the table's job."""

from pydantic import Field

from densevse.artifacts.identity import Identity
from densevse.config.strict import Strict


class JudgedVariant(Strict):
    """A variant after its last round, or a given row, whose scores of pairs are compared with people's."""

    title: str
    seeds: list[int]
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    round: int | None = Field(description="none of a given row")

    def identity(self, dataset: str, seed: int) -> Identity:
        """The identity of its PAIR_SCORES artifact."""
        return Identity(dataset, self.model, seed, self.round, split="test")


class AgreementPlan(Strict):
    """A table of agreement with people on the pairs of a data set."""

    title: str
    dataset: str
    measured: dict[str, JudgedVariant]
