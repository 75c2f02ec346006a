"""Plans of tables, which the DAG builds from the configuration and passes to the job of the table.

The rule holds a plan as plain values. A plan names no folder, so that moved results rerun nothing; a job finds the
artifacts of a plan by their identities.
"""

from typing import Any

from pydantic import Field

from densevse.artifacts.identity import Identity
from densevse.config.strict import RankedSentences, Strict
from densevse.config.tables import PrintedTable, Protocol


class Difference(Strict):
    """Two values of one setting; null if there is no such setting."""

    own: Any = Field(description="the method's own value, or that of the packaged data set")
    here: Any


class TrainedWith(Strict):
    """The training settings of a variant on a data set, without the seed."""

    method: str
    parameters: list[dict[str, Any]] = Field(description="one item for each round")
    sentences: list[str]
    training: dict[str, Any]
    phases: list[list[dict[str, Any]]] = Field(description="one item for each round")


class MadeWith(Strict):
    """The settings that decide a variant's metrics on a data set; for an ensemble, those of its members."""

    networks: dict[str, str] = Field(default={}, description="view -> its network, or given features")
    concepts: str | None = None
    proposer: str | None = None
    parser: str | None = None
    word_vectors: str | None = None
    used: dict[str, list[str]] = Field(
        default={}, description="kind of thing -> names that may be among a retrieval's ancestors"
    )
    trained: TrainedWith | None = Field(default=None, description="none of an ensemble, whose members differ")
    given: str | None = Field(
        default=None, description="of a given row: its files and how they are read; nothing else holds"
    )
    replaced: dict[str, Difference] = Field(
        description="path -> a setting that differs from the packaged config/datasets"
    )
    changed: dict[str, Difference] = Field(default={}, description="path -> a setting that the data set changes")


class MeasuredVariant(Strict):
    """A variant, an ensemble or a given row that a section measures, and its round."""

    title: str
    seeds: list[int]
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    round: int | None = Field(description="none of an ensemble, or of a given row")
    made_with: MadeWith

    def identity(self, dataset: str, protocol: str, seed: int) -> Identity:
        """The identity of the RETRIEVAL artifact."""
        return Identity(dataset, self.model, seed, self.round, protocol, "test")


class SectionPlan(Strict):
    """A data set under a protocol, and its measured variants."""

    title: str
    dataset: str
    protocol: Protocol
    sentences: RankedSentences = "all"
    published: str | None = Field(description="the data set of its published rows, where it is another one")
    measured: dict[str, MeasuredVariant]


class Weights(Strict):
    """The origin of a network's weights, as names of files without folders."""

    architecture: str
    precision: str
    trained_on: str | None
    local: str | None
    file: str | None

    def __str__(self) -> str:
        if self.trained_on:
            origin = f"trained here on {self.trained_on}"
        elif self.local:
            origin = f"weights from {self.local}"
        else:
            origin = f"weights {self.file}" if self.file else "random weights"
        return f"{self.architecture}, {origin}, {self.precision}"


class Configured(Strict):
    """The configuration that a table's measurements used, beyond the variants themselves."""

    networks: dict[str, Weights]
    settings: dict[str, dict[str, dict[str, Any]]] = Field(
        description="kind of thing -> its name -> its settings, as artifacts say them of themselves"
    )


class MeasuringPlan(Strict):
    """The base of plans of tables with measured rows."""

    title: str
    configured: Configured


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
