"""Plans of tables and pictures, which the DAG builds from the configuration and passes to their jobs.

A plan of a table has what the statements of artifacts cannot say: what is measured, and which settings are not the
packaged ones or the method's own.

The rule holds a plan as plain values. A plan names no folder, so that moved results rerun nothing; a job finds the
artifacts of a plan by their identities.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from densevse.artifacts.identity import Identity
from densevse.config.tables import PrintedTable, Protocol
from densevse.config.values import DatasetName, RankedSentences
from snakeproof.strict import Strict


class Difference(Strict):
    """Two values of one setting; null if there is no such setting."""

    own: Any = Field(description="the method's own value, or that of the packaged data set")
    here: Any


class MeasuredVariant(Strict):
    """A variant, an ensemble or a given row that a section measures, and its round."""

    title: str
    seeds: list[int]
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    round: int | None = Field(description="none of an ensemble, or of a given row")
    replaced: dict[str, Difference] = Field(
        default={}, description="path -> a setting that differs from the packaged config/datasets"
    )
    changed: dict[str, Difference] = Field(default={}, description="path -> a setting that the data set changes")

    def identity(self, dataset: str, protocol: str, seed: int) -> Identity:
        """The identity of the RETRIEVAL artifact."""
        return Identity(dataset, self.model, seed, self.round, protocol, "test")


class LastRound(Strict):
    """A variant after its last round."""

    title: str
    seeds: list[int]
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    round: int


class LastRoundsPlan(Strict):
    """A table of variants after their last rounds, on the test split of a data set."""

    title: str
    dataset: str
    measured: dict[str, LastRound]

    def runs(self, name: str) -> list[Identity]:
        """The identity of a variant's artifacts for each seed."""
        entry = self.measured[name]
        return [Identity(self.dataset, entry.model, seed, entry.round, split="test") for seed in entry.seeds]


class SectionPlan(Strict):
    """A data set under a protocol, and its measured variants."""

    title: str
    dataset: DatasetName
    protocol: Protocol
    sentences: RankedSentences = "all"
    published: str | None = Field(description="the data set of its published rows, where it is another one")
    measured: dict[str, MeasuredVariant]


class MeasuringPlan(Strict):
    """The base of plans of tables with measured rows."""

    title: str


class TablePlan(MeasuringPlan):
    """A table of results."""

    reference: str | None = Field(description="the variant that the others are compared with")
    published: list[PrintedTable]
    sections: list[SectionPlan]
    latex_intervals: bool = Field(default=False, description="whether its LaTeX has 95% intervals")


class GainsSection(Strict):
    """A section of a table whose rows have gains."""

    title: str
    dataset: str
    protocol: Protocol


class GainsPlan(Strict):
    """A picture of the gains of a table's rows over its reference row."""

    title: str
    reference: str = Field(description="the title of the reference row")
    sections: list[GainsSection]


class RoundPlan(Strict):
    """A round of a variant that learns correspondences."""

    variant: str
    number: int
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    correspondences: str | None = Field(
        description="the variant whose correspondences it is trained on, where it is known how right they are"
    )


class RoundsPlan(MeasuringPlan):
    """A table of rounds, by variant, then number."""

    section: SectionPlan
    rounds: list[RoundPlan]
    latex_intervals: bool = Field(default=False, description="whether its LaTeX has 95% intervals")


def _identity(values: Any) -> Any:
    """An identity from plain values, as a job receives it."""
    return Identity(**values) if isinstance(values, Mapping) else values


class PicturePlan(Strict):
    """A picture of artifacts of one kind."""

    title: str
    shown: dict[str, Annotated[Identity, BeforeValidator(_identity)]] = Field(
        min_length=1, description="title -> an artifact by its identity, in the order in which they are drawn"
    )
