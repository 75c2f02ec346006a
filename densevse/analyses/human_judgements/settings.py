"""Settings of the agreement with people's judgements of pairs, and the plan of its table."""

from pydantic import Field

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.strict import Strict, known


class JudgementsSource(Strict):
    """The place of a data set's judgements."""

    source: str | None = Field(
        None, description="the source of the data set that holds judgements in the format of Flickr8k's"
    )


class JudgementSettings(ByDataset[JudgementsSource]):
    """Data set -> the source of its judgements."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` for a source that the data set does not have."""
        super().check(config)
        for name, judgements in self.items():
            if judgements.source is not None:
                dataset = config.datasets[name]
                known(f"human_judgements.{name}.source", [judgements.source], {**dataset.sources, **dataset.local})


class JudgedVariant(Strict):
    """A variant after its last round, or a given row, whose scores of pairs are compared with people's."""

    title: str
    seeds: list[int]
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    round: int | None = Field(description="none of a given row")


class AgreementPlan(Strict):
    """A table of agreement with people on the pairs of a data set."""

    title: str
    dataset: str
    measured: dict[str, JudgedVariant]
