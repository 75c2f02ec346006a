"""Settings of ballots and votes on learned correspondences (HM-LSTM, section 5.3.2), and the plan of their table."""

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.sources import Path
from densevse.config.values import Seed, VariantName
from snakeproof.strict import Strict, check_known_names


class BallotSize(Strict):
    """The number of learned correspondences that people judge."""

    pairs: int = Field(2000, ge=1, description="the number of correspondences drawn at random from all training data")
    seed: Seed = Field(0, description="of the draw")


class VotesOnDataset(Strict):
    """The ballot of a data set, and people's votes on it."""

    ballot: BallotSize = Field(default={}, validate_default=True, description="pairs of a phrase and a region to judge")
    files: dict[VariantName, Path] = Field(
        default={}, description="variant -> people's votes on its ballot: CSV with the columns pair, voter, correct"
    )


class VoteSettings(ByDataset[VotesOnDataset]):
    """Data set -> its ballot and votes."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` for votes on an unknown variant."""
        super().check(config)
        for dataset, votes in self.items():
            check_known_names(f"votes.{dataset}.files", votes.files, config.variant_names())


class VoteTablePlan(Strict):
    """A table of votes on correspondences that variants learned on a data set."""

    title: str
    dataset: str
    seed: int = Field(description="of the models whose correspondences are voted on")
    measured: dict[str, str] = Field(description="variant -> its title")
