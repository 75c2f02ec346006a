"""Settings of the agreement with people's judgements of pairs, and the plan of its table."""

from typing import Self

from pydantic import Field, model_validator

from densevse.config.analyses import ByDataset
from densevse.config.config import Config
from densevse.config.given import SeedFiles, check_different
from densevse.config.values import VariantKey
from snakeproof.strict import Strict, Title, check_known_names


class ScoredPairs(Strict):
    """A row of the table whose scores are given, of the judged pairs alone."""

    title: Title | None = Field(None, description="the name in the table; by default the row's name")
    scores: SeedFiles = Field(
        description="CSV or Parquet with the columns image_id, caption_id or text, and score; a file for each seed"
    )

    @model_validator(mode="after")
    def _check_seeds(self) -> Self:
        check_different([[file] for file in self.scores])
        return self


class JudgementsSource(Strict):
    """The place of a data set's judgements, and rows that score no other pairs."""

    source: str | None = Field(
        None, description="the source of the data set that holds judgements in the format of Flickr8k's"
    )
    scored: dict[VariantKey, ScoredPairs] = Field(default={}, description="row -> given scores of the judged pairs")


class JudgementSettings(ByDataset[JudgementsSource]):
    """Data set -> its judgements."""

    def check(self, config: Config) -> None:
        """Raises `ValueError` for a source that the data set does not have, or a row named like another."""
        super().check(config)
        others = {*config.variant_names(), *config.ensembles(), *config.given_rows()}
        for name, judgements in self.items():
            if judgements.source is not None:
                dataset = config.datasets[name]
                check_known_names(
                    f"human_judgements.{name}.source", [judgements.source], {**dataset.sources, **dataset.local}
                )
            for row in sorted(others & judgements.scored.keys()):
                raise ValueError(f"human_judgements.{name}.scored.{row}: config/methods has a row {row!r}; rename this")


class JudgedVariant(Strict):
    """A variant after its last round, or a given row, whose scores of pairs are compared with people's."""

    title: str
    seeds: list[int]
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    round: int | None = Field(description="none of a given row")
    judged_only: bool = Field(default=False, description="true of scores of the judged pairs alone")


class AgreementPlan(Strict):
    """A table of agreement with people on the pairs of a data set."""

    title: str
    dataset: str
    measured: dict[str, JudgedVariant]
