"""Plans of tables: the contract between the DAG, which builds a plan from the configuration, and the job of its table.

The rule holds a plan as plain values. A plan names no folder, so that moved results rerun nothing; a job finds the
artifacts that a plan is about by their identities.
"""

from typing import Any

from pydantic import Field

from densevse.artifacts.identity import Identity
from densevse.config.strict import Strict
from densevse.config.tables import PrintedTable, Protocol


class Difference(Strict):
    """Two values of one setting; null where there is no such setting."""

    own: Any = Field(description="the method's own value, or that of the packaged data set")
    here: Any


class TrainedWith(Strict):
    """How the model of a variant is trained on a data set, whatever the seed."""

    method: str
    parameters: list[dict[str, Any]] = Field(description="one item for each round")
    sentences: list[str]
    training: dict[str, Any]
    phases: list[list[dict[str, Any]]] = Field(description="one item for each round")


class MadeWith(Strict):
    """What decides a variant's metrics on a data set; of an ensemble, what decides its members'."""

    networks: dict[str, str] = Field(description="view -> its network, or the features that are given instead")
    concepts: str | None
    proposer: str | None
    parser: str | None
    word_vectors: str | None
    used: dict[str, list[str]] = Field(description="kind of thing -> names that may be among a retrieval's ancestors")
    trained: TrainedWith | None = Field(description="none of an ensemble, whose members differ")
    replaced: dict[str, Difference] = Field(description="path -> what is not as the packaged config/datasets says")
    changed: dict[str, Difference] = Field(description="path -> what is changed for the data set")


class MeasuredVariant(Strict):
    """A variant or an ensemble that a section measures, and the round that it measures."""

    title: str
    seeds: list[int]
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    round: int | None = Field(description="none of an ensemble")
    made_with: MadeWith

    def identity(self, dataset: str, protocol: str, seed: int) -> Identity:
        """The identity of its RETRIEVAL artifact."""
        return Identity(dataset, self.model, seed, self.round, protocol, "test")


class SectionPlan(Strict):
    """A data set under a protocol, and what is measured there."""

    title: str
    dataset: str
    protocol: Protocol
    published: str | None = Field(description="the data set of its published rows, where it is another one")
    measured: dict[str, MeasuredVariant]


class Weights(Strict):
    """Where a network's weights come from, as names of files without folders."""

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
    """The configuration of what a table's measurements used, beyond the variants themselves."""

    networks: dict[str, Weights]
    settings: dict[str, dict[str, dict[str, Any]]] = Field(
        description="kind of thing -> its name -> its settings, as artifacts say them of themselves"
    )


class TablePlan(Strict):
    """A table of results."""

    title: str
    reference: str | None = Field(description="the variant that the others are compared with")
    published: list[PrintedTable]
    sections: list[SectionPlan]
    configured: Configured


class RoundPlan(Strict):
    """A round of a variant that learns correspondences."""

    variant: str
    number: int
    model: str = Field(description="the variant whose model it is: another one where variants share round 0")
    correspondences: str | None = Field(
        description="the variant whose correspondences it is trained on, where it is known how right they are"
    )


class RoundsPlan(Strict):
    """A table of rounds, by variant, then number."""

    title: str
    section: SectionPlan
    rounds: list[RoundPlan]
    configured: Configured
