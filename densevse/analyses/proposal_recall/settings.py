"""Settings of the table of proposals, results/tables/<data set>_proposals.md, and the plan that its job is given."""

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from snakeproof.strict import Strict, check_known_names


class ProposersCompared(Strict):
    """The proposers of a data set's table, besides its own."""

    proposers: list[str] = Field(default=[], description="further proposers in the data set's table of proposals")


class ProposalRecallSettings(ByDataset[ProposersCompared]):
    """Data set -> the proposers that are compared."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` for an unknown proposer."""
        super().check(config)
        for dataset, compared in self.items():
            check_known_names(f"proposal_recall.{dataset}.proposers", compared.proposers, config.proposers)


class ProposalTablePlan(Strict):
    """A table of the proposers of a data set."""

    title: str
    dataset: str
    proposers: list[str] = Field(description="all whose recall it shows")
    timed: list[str] = Field(description="those whose times it shows")
